"""What a bracket behind a name states: a lifespan, a year, an abbreviation, another name."""

import re

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = rf"(?:c\.? ?|circa )?(?:\d{{1,2}} {_MONTH},? )?(?:{_MONTH} (?:\d{{1,2}}, ?)?)?\d{{3,4}}(?: (?:BC|AD|BCE|CE))?"
_BIRTH = re.compile(rf"\b(?:born|b\.|né|née)(?: ([^;,\d]*?))?,? ?(?:on |in )?({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_DEATH = re.compile(rf"\b(?:died|d\.)(?: (?:on|in))? ({_DATE})(?:,? (?:in|at) ([A-Z][^;]*))?")
_LIFE = re.compile(
    rf"(?:^|[;:,] ?)({_DATE})(?:,? ?(?:in |at )?([A-Z][^;–]*?))? ?[–-] ?({_DATE})(?:,? ?(?:in |at )?([A-Z][^;]*))?"
)
_YEAR = re.compile(r"(?:both |all )?(?:in )?(\d{4})(?: film| album| song)?$")
_ABBREVIATION = re.compile(r"(?:the |or |abbreviated (?:as )?|also |formerly )*([A-Z][\w.&/-]*[A-Z0-9][\w.&/-]*)$")
_ALIAS = re.compile(
    r"(?:^|[;,] ?)(?i:(?:also |commonly |better |formerly |previously |sometimes )*"
    r"(?:known as|called|known by|a\.?k\.?a\.?|nicknamed|born|née|né|formerly)) (?:the )?"
    rf"(?!{_MONTH}|Zqx|\"[a-z])([A-Z\"][^;,\d]{{1,50}})"
)
_FOREIGN = re.compile(
    r"(?:^|[;,] ?)(?:in )?(?:[A-Z][a-z]+ )?(?:[A-Z][a-z]*(?:ese|ish|an|ic|ch|ek|ew|in|i)|Urdu|Tamil): ([^;,()]{2,60})"
)
_QUOTED = re.compile(r'^"\s*([^\W\d_a-z][^"]+)"$')
_ASIDE = re.compile(r"[\d.,]+ \S+$|[a-z, -]{2,30}$|.*\bpopulation\b")
_REMARK = re.compile(
    r"(?:see|e\.g|i\.e|cf|for example|such as|including|and|or|but|which|where|if|though|not|as) ?\b", re.I
)
_LONGEST = 200
_NOT_NAME = re.compile(r"^\W+|\W+$")


def facts_of(content: str) -> list[tuple[str, str]] | None:
    """What the bracket states (predicate, object): nothing for sounds, measures and asides, None if not understood."""
    content = content.strip()
    if len(content) > _LONGEST:
        return None
    if not re.search(r"[A-Za-z0-9]{2}", content) or _ASIDE.match(content):
        return []
    facts: list[tuple[str, str]] = []
    if life := _LIFE.search(content):
        facts += _dated("born", life[1], life[2]) + _dated("died", life[3], life[4])
    else:
        if birth := _BIRTH.search(content):
            facts += _dated("born", birth[2], birth[3])
        if death := _DEATH.search(content):
            facts += _dated("died", death[1], death[2])
    facts += [("also known as", name) for alias in _ALIAS.finditer(content) for name in _names(alias[1])]
    if not facts and (year := _YEAR.match(content)):
        facts = [("dated", year[1])]
    if not facts and (short := _ABBREVIATION.match(content)):
        facts = [("also known as", short[1])]
    if not facts:
        others = [*_FOREIGN.finditer(content), *_QUOTED.finditer(content)]
        facts = [("also known as", name) for other in others for name in _names(other[1])]
    return facts or ([] if _REMARK.match(content) else None)


def _dated(event: str, date: str, place: str | None) -> list[tuple[str, str]]:
    preposition = "on" if re.search(r"[A-Z]\w+ \d{1,2},|\d{1,2} [A-Z]", date) else "in"
    facts = [(f"{event} {preposition}", date.strip())]
    if place and place.strip(" ,"):
        facts.append((f"{event} in", place.strip(" ,")))
    return facts


def _names(text: str) -> list[str]:
    names = (_NOT_NAME.sub("", name) for name in re.split(r" (?:or|and) ", text))
    return [name for name in names if name]
