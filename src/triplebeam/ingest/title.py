"""Whether the title that a file carries in its properties says anything."""

import re

# Left behind by the program that wrote the file: "Microsoft Word - draft3.doc", "untitled", "paper.dvi", "(anonymous)".
_NOT_A_TITLE = re.compile(
    r"untitled.*|document\d*|word document|powerpoint presentation|title|\(.*\)|microsoft \w+ - .*|"
    r"\S+\.(?:docx?|tex|dvi|pdf|indd|qxd|rtf|odt|txt|html?|pptx?|xlsx?)",
    re.IGNORECASE,
)


def clean_title(title: str | None) -> str:
    """Give the title on one line, or nothing where a program and not a person wrote it."""
    words = " ".join((title or "").split())
    is_name = any(character.isalpha() for character in words) and not _NOT_A_TITLE.fullmatch(words)
    return words if is_name else ""
