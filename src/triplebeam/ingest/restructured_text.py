"""reStructuredText, by docutils (the extra ``rst``), with what Sphinx adds to it."""

import re
from collections.abc import Iterator

from triplebeam.ingest.content import Content, NoDocumentError, report_damage
from triplebeam.ingest.html import read_html
from triplebeam.ingest.plain import read_plain
from triplebeam.ingest.sources import import_extra
from triplebeam.text.stop_words import word_set

#: docutils needs the square of a paragraph's length for marks that are never closed, and reads no longer line.
_MAX_BLOCK_CHARACTERS = 10_000
#: Of the paragraphs that a longer block is cut into.
_MAX_PARAGRAPH_CHARACTERS = 2_000
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,4}|#|[a-zA-Z])[.)]|\.\.)\s")
_UNDERLINE = re.compile(r"\s*([^\w\s])\1*\s*")
_GRID_TABLE = re.compile(r"\s*\+[-=]")
#: Nothing outside the file is read, nothing is executed, and an error in the markup ends nothing.
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "sectsubtitle_xform": False,
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "syntax_highlight": "none",
    "math_output": "latex",
    "_disable_config": True,
}
#: Roles and directives of Sphinx, which docutils does not know, become plain markup before it sees them.
_ROLE = re.compile(r":(?:[a-z]+:)?[a-z+-]+:`(?:[~!])?([^`<]+?)(?:\s*<([^`>]+)>)?`")
_REFERENCES = (":ref:", ":term:", ":numref:", ":any:", ":abbr:", ":guilabel:", ":menuselection:")
_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*)\.\. (?P<name>[\w:+-]+)::[ \t]*(?P<argument>.*)$", re.MULTILINE)
_KNOWN = word_set(
    "note warning tip hint important attention caution danger error admonition seealso image figure code code-block "
    "sourcecode math table csv-table list-table topic sidebar epigraph highlights pull-quote compound container "
    "parsed-literal rubric class role default-role replace unicode date include raw meta contents sectnum header "
    "footer line-block"
)
_WITHOUT_TEXT = word_set(
    "toctree index highlight currentmodule module automodule autoclass autofunction automethod tabularcolumns "
    "only literalinclude seealso-list graphviz plot sectionauthor codeauthor contents"
)


def read_restructured_text(source: str) -> Content:
    """Read a document. The title is its first heading. Lines that no person wrote make the whole of it plain text."""
    core = import_extra("docutils.core", "rst")
    longest = max(map(len, source.split("\n")))
    if longest > _MAX_BLOCK_CHARACTERS:
        reason = f"it was read as plain text, since a line has {longest:,} characters: break lines over 10,000"
        return read_plain(source)._replace(warnings=(reason,))
    markup = "\n".join(_replace_directives("\n\n".join(map(_cut_block, source.split("\n\n")))))
    with report_damage("the markup cannot be read"):
        parts = core.publish_parts(markup, writer="html5", settings_overrides=_SETTINGS)
    content = read_html(parts["html_body"], code_mark="`")
    if not content.text.strip() and _DIRECTIVE.search(source):
        raise NoDocumentError("it has directives only, such as automodule, and no text of its own")
    return content._replace(title=content.first_heading)


def _cut_block(block: str) -> str:
    """Put blank lines into a block that is too long: between the items of a list, else between lines of a paragraph.

    A table cannot be cut, so one drawn with lines becomes text that is kept as it is.
    """
    if len(block) <= _MAX_BLOCK_CHARACTERS:
        return block
    lines = block.strip("\n").split("\n")
    if _GRID_TABLE.match(lines[0]):
        indent = " " * (len(lines[0]) - len(lines[0].lstrip()))
        return "\n".join((f"{indent}::", "", *(f"   {line}" for line in lines)))
    cut: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if cut and (_ITEM.match(line) or size > _MAX_PARAGRAPH_CHARACTERS) and not _UNDERLINE.fullmatch(line):
            cut.append("")
            size = len(line)
        cut.append(line)
    return "\n".join(cut)


def _replace_directives(source: str) -> Iterator[str]:
    """Yield lines in which a directive that docutils does not know is a definition of its argument, or is gone."""
    leaving: int | None = None
    for line in source.split("\n"):
        indent = len(line) - len(line.lstrip())
        if leaving is not None and (not line.strip() or indent > leaving):
            continue
        leaving = None
        directive = _DIRECTIVE.match(line)
        if directive is None or directive["name"] in _KNOWN - {"contents"}:
            yield _ROLE.sub(_replace_role, line)
        elif directive["name"] in _WITHOUT_TEXT:
            leaving = indent
        else:
            term = directive["argument"].strip() or directive["name"].capitalize()
            yield directive["indent"] + (f"``{term}``" if directive["argument"].strip() and "`" not in term else term)


def _replace_role(role: re.Match[str]) -> str:
    """Replace a role: a reference to a document links to its file, one to a section is its text; others are code."""
    if role[0].startswith(":doc:"):
        return f"`{role[1]} <{role[2] or role[1]}.rst>`__"
    return role[1] if role[0].startswith(_REFERENCES) else f"``{role[1]}``"
