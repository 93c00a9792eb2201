"""What the context of a passage's words says: who speaks, of which day and under which headings."""

import re
from calendar import day_name, month_name
from collections.abc import Sequence

from triplebeam.passage import Passage
from triplebeam.support.page import Page
from triplebeam.support.resolve import DAYS, HUMP, resolve_passage
from triplebeam.text.stop_words import LIGHT_WORDS, word_set
from triplebeam.text.words import Word, content, words_of
from triplebeam.triple import Triple

#: What an addition may say of a name: what kind of thing it is, or who says it.
KINDS = word_set(
    "option parameter setting command variable directive flag keyword function method field value argument property"
    " file page manual section default called named set say mentioned user person according chat article"
    " passage document message when while entry sample example"
)
#: What an addition may call what somebody says in a chat.
SPEECH = word_set(
    "asked asks suggested suggests proposed proposes invited invites offered offers shared shares wished wishes"
    " reminded reminds thanked thanks recommended recommends agreed agrees replied answered announced informed"
    " challenged wondered explained complained confirmed wants wanted requested sent praised told said says thinks"
    " believes hopes plans"
)
PREPOSITIONS = word_set("and or of with by for from to in at on than about after before under over near like s")
_PAIR = 2
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
#: What is between two clauses.
CLAUSE = re.compile(r"[,;:()—–.\n]")
#: Words that say when something is.
TIME = re.compile(
    rf"{DAYS.pattern}|\b(?:{'|'.join(day_name)}|{'|'.join(month_name[1:])}|ago|last|next|week|month|year|\d{{4}})s?\b",
    re.IGNORECASE,
)


def compute_word_overlap(statement: str, quotation: str) -> float:
    """Return the share of a statement's words that a quotation has."""
    said, quoted = ({word.folded for word in content(HUMP.sub(" ", text))} for text in (statement, quotation))
    return len(said & quoted) / len(said) if said else 0.0


def is_named(speaker: str, statement: str) -> bool:
    """Decide whether a statement has all words of a speaker's name."""
    said = {word.folded for word in words_of(HUMP.sub(" ", statement))}
    return {word.folded for word in words_of(speaker)} <= said


def split_speaker_names(text: str, passage: Passage) -> str:
    """Write the names of those who talk as the check reads them: "Li Hua" for LiHua."""
    for speaker in speakers_of(passage):
        text = re.sub(rf"\b{re.escape(speaker.replace(' ', ''))}\b", speaker, text)
    return text


def find_addition(statement: str, triple: Triple, page: Page, sentence: range, passage: Passage) -> str | None:
    """Find a name or number that a statement has beyond its triple, its sentence, the title, section and date."""
    known = _around(page, sentence, passage) | {page.words[place].folded for place in sentence}
    known |= {word.folded for word in words_of(f"{triple.subject} {triple.object}")}
    words = words_of(statement)
    new = [word for n, word in enumerate(words) if is_fixed(words, n)]
    return next((word.text for word in new if word.folded not in known and word.key not in KINDS), None)


def _around(page: Page, sentence: range, passage: Passage) -> set[str]:
    """List the words of title, section, metadata, of the two who talk, and of the date if the sentence has none."""
    said = page.text[page.words[sentence.start].start : page.words[sentence.stop - 1].end]
    dated = bool(_ISO_DATE.search(said))
    named = words_of(_ISO_DATE.sub("", f"{page.title} {passage.title} {passage.origin}"))
    file = {word.folded for word in words_of(passage.document_id) if word.text.islower()}
    return {word.folded for word in named} | file | _persons(passage) | (set() if dated else date_words(passage))


def _persons(passage: Passage) -> set[str]:
    """List the words of the names of two who talk with each other."""
    speakers = speakers_of(passage)
    return {word.folded for word in words_of(" ".join(speakers))} if len(speakers) == _PAIR else set()


def speakers_of(passage: Passage) -> list[str]:
    """Who speaks in a passage, each once."""
    return list(dict.fromkeys(speaker for _, speaker in resolve_passage(passage).speakers))


def is_by_its_speaker(statement: str, page: Page, sentence: range, passage: Passage) -> bool:
    """Decide whether a statement that says who says something names the speaker, with whom the sentence begins."""
    if not speakers_of(passage) or not _names_an_act(statement):
        return True
    first = next((page.words[n] for n in sentence if not page.words[n].text.isdigit()), page.words[sentence.start])
    return words_of(statement)[0].folded == first.folded


def _names_an_act(statement: str) -> bool:
    return any(word.key in SPEECH for word in words_of(statement))


def is_fixed(words: Sequence[Word], n: int) -> bool:
    """Names, numbers and the words of code cannot be said otherwise."""
    word, next_gap = words[n], words[n + 1].gap if n + 1 < len(words) else " "
    is_code = (len(word.text) == 1 and word.key not in LIGHT_WORDS) or any(
        gap.strip("_=./:-") == "" < gap for gap in (word.gap, next_gap)
    )
    return word.is_name or is_code or any(map(str.isdigit, word.text))


def date_words(passage: Passage) -> set[str]:
    """List the words of the passage's date in any of its forms."""
    if not passage.date:
        return set()
    year, month, day = passage.date.split("-")
    name = month_name[int(month)].casefold()
    return {year, month, day, str(int(month)), str(int(day)), name, name[:3]}
