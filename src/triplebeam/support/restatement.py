"""Does a sentence say a statement in nearly its own words? For statements that are no triple, or that the model misses.

The statement's words are in the sentence, the title, the section or the date, in the sentence's order, and what comes
first in it begins a clause there: "Ann, who lived with Bob, died in Paris" says "Ann died in Paris", not "Bob died".
"""

import re
from bisect import bisect_right
from calendar import day_name, month_name
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from triplebeam.passage import Passage
from triplebeam.support.page import Page
from triplebeam.support.resolve import DAYS, HUMP, resolve_passage
from triplebeam.text.stop_words import LIGHT_WORDS, word_set
from triplebeam.text.words import Word, content, words_of
from triplebeam.triple import Triple

#: Of a statement's words, this share may be others than the sentence's, if they are neither names nor numbers.
_OTHER_WORDS = 0.25
#: At least this share of them is in the sentence itself.
_MIN_SHARE_FOUND = 0.4
#: Words of more letters than this are compared by their beginnings: "visits" and "visited".
_STEM = 5
#: What a statement may add to say what kind of thing a name is, or who says it.
KINDS = word_set(
    "option parameter setting command variable directive flag keyword function method field value argument property"
    " file page manual section default called named set said say says told mentioned user person according chat article"
    " passage document message when while entry sample example"
)
#: What a statement may call what somebody says in a chat.
SPEECH = word_set(
    "asked asks suggested suggests proposed proposes invited invites offered offers shared shares wished wishes"
    " reminded reminds thanked thanks recommended recommends agreed agrees replied answered announced informed"
    " challenged wondered explained complained confirmed wants wanted requested sent praised told said says thinks"
    " believes hopes plans"
)
PREPOSITIONS = word_set("and or of with by for from to in at on than about after before under over near like s")
_MIN_WORDS_FOUND = 2
_PAIR = 2
_MAX_TERM_WORDS = 3
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
CLAUSE = re.compile(r"[,;:()—–.\n]")
_SENTENCE_END = re.compile(r"[.!?\n]")
#: Words that say when something is.
TIME = re.compile(
    rf"{DAYS.pattern}|\b(?:{'|'.join(day_name)}|{'|'.join(month_name[1:])}|ago|last|next|week|month|year|\d{{4}})",
    re.IGNORECASE,
)
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|d|s|e)$")
_SAYING = "reports?|reported|says|said|writes|wrote|states|stated|notes|noted|mentions|quotes|admitted|told"
#: How a statement says where something is said: "The Age reports that …", "The article of The Age says …".
_REPORT = re.compile(rf"(?:An? |The )?(?P<source>(?:[^.;:]|\.(?=\w)){{2,90}}?),? (?:{_SAYING})(?: that|:)? (?=\S)")
#: The same behind what is said: ", as reported by The Age", ", The Age says".
_REPORTED = re.compile(
    rf",? (?:as (?:reported|told|stated) (?:by|in|to)|according to|as) (?:the )?(?P<source>[^.;:,]{{2,60}}?)"
    rf"(?: (?:{_SAYING}))?(?=[,.]|$)|, (?:the )?(?P<teller>[^.;:,]{{2,60}}?) (?:{_SAYING})(?=[,.]|$)"
)
_MEDIA = word_set("article report story page manual documentation s post timeline piece")


def restates(
    statement: str, page: Page, quote: range, passage: Passage, *, exactly: bool, in_order: bool = True
) -> bool:
    """Is a statement made of quoted words, in their order, with the title, the section and the date at most?

    ``exactly`` allows no other words; without ``in_order`` they may come in any order.
    """
    if not quote:
        return False
    inside, around = [page.words[place] for place in quote], _around(page, quote, passage)
    spoken = bool(speakers_of(passage))
    words = [word for word in content(statement) if word.key not in (KINDS | SPEECH if spoken else KINDS)]
    places = _match_words(words, inside, _persons(passage))
    others = [n for n, place in enumerate(places) if place < 0 and words[n].folded not in around]
    found = [place for place in places if place >= 0]
    is_others = not words or (places[0] < 0 and words[0].folded in _persons(passage))
    if is_others or any(exactly or is_fixed(words, n) for n in others):
        return False
    if len(others) > _OTHER_WORDS * len(words) or len(found) < _MIN_SHARE_FOUND * len(words):
        return False
    if len(found) < _MIN_WORDS_FOUND or _cuts_a_name(inside, found):
        return False
    if not in_order or not _are_in_order(found, inside, speakers_of(passage)):
        return not in_order
    return (spoken and _names_an_act(statement)) or _is_clause(inside, found, statement)


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


def strip_chat_day(text: str, passage: Passage, quotation: str) -> str:
    """Leave out the day of a chat, on which somebody says something, unless the quotation speaks of another time."""
    if not speakers_of(passage) or (TIME.search(quotation) and not _names_an_act(text)):
        return text
    head = re.match(r".*?(?= (?:that|whether|if|about|to|for)\b)|.*", text, re.DOTALL)
    return _strip_day(head[0], passage) + text[head.end() :] if head and head[0] else text


def _strip_day(text: str, passage: Passage) -> str:
    """Leave out the day of a passage, with its time, where it comes first."""
    if not passage.date:
        return text
    year, month, day = map(int, passage.date.split("-"))
    forms = (passage.date, rf"{month_name[month]} {day},? {year}", rf"{day} {month_name[month]} {year}")
    time = r"(?:,? (?:at )?\d\d?:\d\d)?"
    when = rf"(?:\bearlier,? )?(?:\bin the chat of|\bon|\bof)? ?\(?\b(?:{'|'.join(forms)}){time}\)?,?"
    return re.sub(r"\s+", " ", re.sub(when, "", text, count=1, flags=re.IGNORECASE)).strip() or text


def strip_source(statement: str, passage: Passage, quote_end: int) -> str:
    """Leave out where, by whom and on which day something is said, if the passage, its source or its date says so."""
    for each in reversed([*_REPORTED.finditer(statement)]):
        if _is_its_source(each["source"] or each["teller"], replace(passage, title="")):
            statement = statement[: each.start()] + statement[each.end() :]
    saying = re.search(rf"\b(?:{_SAYING})(?: on)?\b", statement)
    head = statement[: saying.end() + len(passage.date) + 1] if saying else ""
    dated = _strip_day(statement, passage) if passage.date and passage.date in head else statement
    report = _REPORT.match(dated)
    said_by = rf"\W*(?:{_SAYING}) (?:an? |the )?{re.escape(report['source'])}\b" if report else ""
    if report and (re.match(said_by, passage.text[quote_end:]) or _is_its_source(report["source"], passage)):
        return dated[report.end() :]
    told, day, rest = statement.partition(f" on {passage.date} ") if passage.date else (statement, "", "")
    speakers = {word.folded for word in words_of(" ".join(speakers_of(passage)))}
    is_told = day and all(word.key in SPEECH or word.folded in speakers for word in content(told))
    return f"{told} {rest}" if is_told else statement


def _is_its_source(text: str, passage: Passage) -> bool:
    """Decide whether a text names where a passage is from: its source, its title or its date."""
    words = [word for word in content(text) if word.key not in _MEDIA]
    cited = {word.folded for word in words} - date_words(passage)
    title, origin = ({word.folded for word in content(each)} for each in (passage.title, passage.origin))
    is_source = (cited - title <= origin and cited & origin) or (cited <= title and 2 * len(cited) >= len(title))
    return bool(is_source) and any(word.is_name for word in words)


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


def is_verbatim(statement: str, page: Page, sentence: range) -> bool:
    """Are the statement's words a stretch of the sentence?"""
    said, words = ([word.folded for word in each] for each in (words_of(statement), [page.words[n] for n in sentence]))
    return any(words[n : n + len(said)] == said for n in range(len(words)))


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


def _match_words(words: Sequence[Word], inside: Sequence[Word], persons: Collection[str]) -> list[int]:
    """Find the place of each word in the sentence, behind that of the word before if possible; -1 if it has none.

    So have the names of those who talk, which may come anywhere, unless the statement begins with them.
    """
    places: list[int] = []
    last = -1
    for n, word in enumerate(words):
        same = [place for place, each in enumerate(inside) if _is_same(word, each)]
        chosen = next((place for place in same if place > last), same[-1] if same else -1)
        if word.folded in persons and n and chosen != n:  # not the name that both begin with
            chosen = -1
        places.append(chosen)
        last = max(last, chosen)
    return places


def _is_same(word: Word, other: Word) -> bool:
    if word.folded == other.folded:
        return True
    if word.folded.isdecimal() or (word.is_name and other.is_name):
        return False
    longer = min(len(word.folded), len(other.folded)) >= _STEM
    return (longer and word.folded[:_STEM] == other.folded[:_STEM]) or _strip_ending(word) == _strip_ending(other)


def _strip_ending(word: Word) -> str:
    """Return a word without the ending of a verb, if three letters stay."""
    return _ENDING.sub("", word.folded)


def is_fixed(words: Sequence[Word], n: int) -> bool:
    """Names, numbers and the words of code cannot be said otherwise."""
    word, next_gap = words[n], words[n + 1].gap if n + 1 < len(words) else " "
    is_code = (len(word.text) == 1 and word.key not in LIGHT_WORDS) or any(
        gap.strip("_=./:-") == "" < gap for gap in (word.gap, next_gap)
    )
    return word.is_name or is_code or any(map(str.isdigit, word.text))


def _is_clause(inside: Sequence[Word], found: Sequence[int], statement: str) -> bool:
    """Decide whether a statement begins as a clause does, and no other name comes between it and what is said of it."""
    first = found[0]
    before = inside[first - 1].key if first and not CLAUSE.search(inside[first].gap) else ""
    if before in PREPOSITIONS and words_of(statement)[0].key != before:
        return False
    last = next((n for n in range(first, found[-1]) if n not in found or not inside[n].is_name), first + 1) - 1
    last = max(last, first)
    rest = next(place for place in (*found, found[-1]) if place > last or place == found[-1])
    if any(_is_other(word) or word.key == "s" for word in inside[last + 1 : rest]):
        return False
    numbers = [n for n, place in enumerate(found) if n and inside[place].text[0].isdigit()]
    return not any(inside[m].is_name for n in numbers for m in range(found[n - 1] + 1, found[n]))


def _are_in_order(found: Sequence[int], inside: Sequence[Word], speakers: Sequence[str]) -> bool:
    """Are the words of each sentence in its order? Speakers, a term before a colon and the only number are anywhere."""
    numbers = {word.folded for word in inside if word.text[0].isdigit()}
    free = {word.folded for word in words_of(" ".join(speakers))} | (numbers if len(numbers) == 1 else set())
    term = next((n for n, word in enumerate(inside[: _MAX_TERM_WORDS + 1]) if n and ":" in word.gap), 0)
    free |= {word.folded for word in inside[:term]}
    starts = [n for n, word in enumerate(inside) if n and _SENTENCE_END.search(word.gap)]
    order = [(bisect_right(starts, place), place) for place in found if inside[place].folded not in free]
    groups = [[place for _, place in each] for _, each in groupby(order, key=itemgetter(0))]
    return len(groups) == len({sentence for sentence, _ in order}) and all(each == sorted(each) for each in groups)


def _cuts_a_name(inside: Sequence[Word], found: Sequence[int]) -> bool:
    """Is a part of a longer name taken for the whole of it?"""
    pairs = ((n, n + 1) for n in found if n + 1 < len(inside) and n + 1 not in found)
    return any(inside[n].is_name and _is_other(inside[m]) and inside[m].gap == " " for n, m in pairs)


def _is_other(word: Word) -> bool:
    """Is a word the name of somebody or something, not of a kind of things?"""
    return word.is_name and word.key not in KINDS


def date_words(passage: Passage) -> set[str]:
    """List the words of the passage's date in any of its forms."""
    if not passage.date:
        return set()
    year, month, day = passage.date.split("-")
    name = month_name[int(month)].casefold()
    return {year, month, day, str(int(month)), str(int(day)), name, name[:3]}
