"""Manual pages (roff): their text without macros; sections are headings, options are headwords.

Both languages of manual pages are read, man(7) and mdoc(7). Nothing is executed: definitions and conditions are left
out.
"""

import re
from collections.abc import Iterator

from triplebeam.ingest.content import Composer, Content, NoDocumentError
from triplebeam.ingest.plain import read_plain
from triplebeam.text.stop_words import word_set

_IS_ROFF = re.compile(r"^[.'](?:TH|SH|Dd|Dt|Sh|so)\b", re.MULTILINE)
_REFERENCE = re.compile(r"\s*\.so[ \t]+(\S+)\s*")
_REQUEST = re.compile(r"[.'][ \t]*([A-Za-z]\w{0,9}|\\\"|)[ \t]*(.*)")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |\S)+)')
_SEPARATOR = re.compile(r"\btab ?\((.)\)")
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_PARAGRAPHS = word_set("PP P LP Pp sp RS RE Bl El Ed")
_CODE_BEGINS, _CODE_ENDS = word_set("nf EX Vb Bd"), word_set("fi EE Ve Ed")
_FONTS, _ALTERNATING = word_set("B I SM SB R"), word_set("BR BI RB RI IB IR")
_DEFINITIONS = word_set("de de1 am ig")
#: Macros of mdoc that write their arguments; those within a line are words of it, and go.
_MDOC = word_set(
    "Nm Nd Fl Ar Op Oo Oc Cm Ic Li Pa Ev Va Vt Fa Fn Ft Fc Fo Xr Sx Sy Em No Dq Sq Qq Pq Aq Bq Brq Ql Qo Qc Do Dc "
    "So Sc Po Pc Bo Bc Ao Ac Ns Ad An Cd Dv Er Lk Mt Ms Tn Ux At Bx Fx Nx Ox St Xo Xc Ta Rs Re"
)
_CLOSING = tuple(".,;:)]?!")
_NAMES = {"em": "—", "en": "–", "hy": "-", "bu": "•", "co": "©", "rg": "®", "aq": "'", "dq": '"', "lq": "“", "rq": "”"}
_NAMES |= {"oq": "‘", "cq": "’", "ga": "`", "ti": "~", "ha": "^", "rs": "\\", "mu": "×"}
_NAMES |= {"->": "→", "<=": "≤", ">=": "≥"}
_ESCAPE = re.compile(
    r"\\(?:(?P<drop>f(?:\[[^\]\n]{0,30}\]|\(..|.)|s(?:[-+]?\d{1,2}|\[[^\]\n]{0,30}\])|[hvwlLoZ]'[^'\n]{0,100}'|[nmFgk](?:\[[^\]\n]{0,30}\]|\(..|.)|[&)%:|^/,cdu{}!pt])"
    r"|[*(]?(?:\[(?P<long>[^\]\n]{1,30})\]|\((?P<name>..))|(?P<sign>.))"
)
_KEPT_SIGNS = {"e": "\\", "~": " ", "0": " "}


def read_man_page(source: str) -> Content:
    """Read a manual page. The title is its name with the section, as in ``ls(1)``; what is no roff is plain text."""
    if not _IS_ROFF.search(source):
        return read_plain(source)
    if other := _REFERENCE.fullmatch(source):
        raise NoDocumentError(f"it only refers to another page, {other[1]}")
    reader = _Reader()
    for line in _drop_definitions(source.split("\n")):
        reader.read(line)
    reader.end()
    return reader.composer.content(reader.title)


def _drop_definitions(lines: list[str]) -> Iterator[str]:
    """Yield text and macros, without definitions of macros, and without conditions and what depends on them."""
    end, depth = "", 0
    for line in lines:
        request = _REQUEST.fullmatch(line)
        if end:
            end = "" if line.strip() == end else end
        elif depth or (request and request[1] in ("if", "ie", "el", "while")):
            depth = max(0, depth + line.count("\\{") - line.count("\\}"))
        elif request and request[1] in _DEFINITIONS:
            end = ".."
        else:
            yield line


class _Reader:
    """Goes through the lines once."""

    def __init__(self) -> None:
        self.composer = Composer()
        self.title = ""
        self._name = ""
        self._code: list[str] | None = None
        self._next = ""
        """The macro whose text is on the next line."""
        self._separator = ""
        """Of the cells of a table; nothing where there is none."""
        self._is_format = False
        """Of a table: how its columns are set, up to a full stop."""
        self._is_cell = False
        """Of a table: a cell of several lines."""

    def read(self, line: str) -> None:
        """Read a line of text, or a macro and its arguments."""
        request = _REQUEST.fullmatch(line)
        if self._is_format and request is None:
            self._separator = named[1] if (named := _SEPARATOR.search(line)) else self._separator
            self._is_format = not line.rstrip().endswith(".")
        elif self._separator and request is None:
            self._write_row(line)
        elif request is None:
            self._words(_strip_escapes(line) if line.strip() else "")
        elif request[1] not in ("", '\\"'):
            self._macro(request[1], request[2])

    def end(self) -> None:
        """Write code that has no end."""
        if self._code is not None:
            self.composer.code("\n".join(self._code))
        self._code = None

    def _macro(self, macro: str, rest: str) -> None:
        arguments = _ARGUMENT.findall(rest.split('\\"')[0])
        words = [_strip_escapes(quoted.replace('""', '"') or word) for quoted, word in arguments]
        if macro in ("TH", "Dt") and words:
            name = words[0].lower() if words[0].isupper() else words[0]
            self.title = f"{name}({words[1]})" if len(words) > 1 else name
        elif macro in _HEADINGS:
            self.end()
            self._separator, self._is_format = "", False  # a table that has no end
            self._next = "" if words else macro
            self.composer.heading(_HEADINGS[macro], " ".join(words))
        elif macro in _CODE_ENDS:
            self.end()
        elif macro in _CODE_BEGINS:
            self._code = self._code or []
        elif macro in ("TS", "TE") or (macro == "T" and self._separator):
            self._separator = {"TS": "\t", "TE": ""}.get(macro, self._separator)
            self._is_format, self._is_cell = macro != "TE", False
            self.composer.end_line()
        elif macro in ("TP", "TQ"):
            self._next = "TP"
        elif macro == "IP":
            self._begin_item(words[:1])
        elif macro == "It":
            self._begin_item(_mdoc_words(words))
        elif macro in _PARAGRAPHS:
            self.composer.end_paragraph()
        elif macro == "br":
            self.composer.end_line()
        elif macro in _ALTERNATING:
            self._words("".join(words))
        elif macro in _FONTS:
            self._words(" ".join(words))
        elif macro in _MDOC:
            self._write_mdoc(macro, words)

    def _write_row(self, line: str) -> None:
        """Write a line of a table. A cell of several lines is between ``T{`` and ``T}``."""
        is_inside = self._is_cell and not line.startswith("T}")
        if not self._is_cell:
            self.composer.end_line()
        for number, cell in enumerate([line] if is_inside else line.split(self._separator)):
            if number:
                self.composer.cell()
            text = cell if is_inside else cell.removeprefix("T}").removesuffix("T{")
            if text.strip("_= "):  # more than a rule between rows
                self._words(_strip_escapes(text))
        self._is_cell = is_inside or line.endswith("T{")

    def _begin_item(self, words: list[str]) -> None:
        """Begin a definition, an item of a list, or a paragraph."""
        mark = " ".join(words)
        if not any(character.isalnum() for character in mark):
            self.composer.end_paragraph()
            self.composer.item("- " if mark else "")
        else:
            self.composer.term(mark)

    def _write_mdoc(self, macro: str, words: list[str]) -> None:
        if macro == "Nm":
            self._name = self._name or " ".join(words[:1])
            words = words or [self._name]
        elif macro == "Xr" and len(words) > 1:
            words = [f"{words[0]}({words[1]})", *words[2:]]
        self._words(("– " if macro == "Nd" else "") + " ".join(_mdoc_words([macro, *words])))

    def _words(self, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
        elif self._next and text:
            begun, self._next = self._next, ""
            if begun == "TP":
                self._begin_item([text])
            else:
                self.composer.heading(_HEADINGS[begun], text)
        elif text:
            self.composer.words(f"{text} ")
        else:
            self.composer.end_paragraph()


def _mdoc_words(words: list[str]) -> list[str]:
    """Return words without the macros between them; the one for options is their dash."""
    kept: list[str] = []
    is_option = False
    for word in words:
        if word in _MDOC:
            is_option = word == "Fl"
        elif word in _CLOSING and kept:
            kept[-1] += word
        else:
            kept.append(f"-{word}" if is_option else word)
            is_option = False
    return kept


def _strip_escapes(text: str) -> str:
    return _ESCAPE.sub(_character, text.split('\\"')[0])


def _character(escape: re.Match[str]) -> str:
    if escape["drop"]:
        return ""
    if name := escape["long"] or escape["name"]:
        return _NAMES.get(name, "")
    return _KEPT_SIGNS.get(escape["sign"], escape["sign"])
