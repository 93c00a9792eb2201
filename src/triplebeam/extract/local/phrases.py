"""Words of a noun phrase or a verb group as they go into a triple, and the nouns a list or a preposition leads to."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from triplebeam.extract.local.kinds import PLACE_KINDS, is_common, is_named, is_time

if TYPE_CHECKING:
    from spacy.tokens import Token

_MODIFIERS = ("compound", "amod", "nummod", "nmod", "quantmod", "advmod", "npadvmod", "punct")
_VERB_PARTS = ("aux", "auxpass", "neg", "prt")
_CONTRASTS = ("but", "nor", "than", "not")
_EXCEPTING = ("instead", "unlike", "except", "versus", "according", "despite", "barring", "besides")
_CONTRACTIONS = tuple(
    (re.compile(short), full)
    for short, full in (
        (r" n['’]t\b", "n't"),
        (r"(?:^|(?<= ))'m\b", "am"),
        (r"(?:^|(?<= ))'re\b", "are"),
        (r"(?:^|(?<= ))'ve\b", "have"),
        (r"(?:^|(?<= ))'ll\b", "will"),
        (r"(?:^|(?<= ))'s (?=been|got)", "has "),
        (r"(?:^|(?<= ))'s\b", "is"),
    )
)
_LONGEST = 8
_EDGES = " .,;:'\"-–"
#: Nouns that stand for nothing by themselves, in prose of any kind.
_EMPTY_WORDS = (
    "one ones number part parts variety lot lots some others other all both each most many such order addition"
    " end start time times way ways period result results case cases course fact example examples use rest basis"
    " place places name names total series member members thing things something anything everything nothing"
    " someone anyone everyone kind kinds type types sort form forms set sets group list lists line lines item"
    " items entry entries section sections chapter page pages table figure note notes default defaults"
    " documentation document documents system systems file files command commands option options package packages"
    " program programs user users value values function functions method methods data text information content"
    " contents version versions process processes feature features support problem problems issue issues change"
    " changes error errors message messages input output code object objects string strings field fields argument"
    " arguments parameter parameters setting settings configuration tool tools step steps point points reason"
    " reasons purpose effect effects role level size length amount bit details detail need needs work job task"
    " tasks idea ideas people person man men woman women day days week weeks month months year years today"
    " tomorrow tonight morning moment minute minutes hour hours second seconds world life side top bottom left"
    " right beginning middle front back majority couple pair bunch half access ability possibility percent"
    " question questions answer answers word words term terms sentence paragraph topic subject title stuff guy"
    " guys instance instances behavior behaviour action actions operation operations mode state status condition"
    " conditions rule rules request requests response server client application applications software machine"
    " computer host address directory directories path script scripts module modules library libraries reader"
    " author authors advantage care sense account popularity precedence charge attention following former latter"
    " same means approach technique techniques situation circumstances while whole behalf night midseason terms"
)
_EMPTY_NOUNS = frozenset(_EMPTY_WORDS.split())
_OPINIONS_WORDS = (
    "necessity start choice fan gem blast marvel classic favorite favourite vibe reminder ears must pleasure"
    " bummer joke mess delight breeze nightmare"
)
_OPINIONS = frozenset(_OPINIONS_WORDS.split())
_MEASURES_WORDS = "bit lot lots ton tons bunch couple number variety plenty range handful"
_MEASURES = frozenset(_MEASURES_WORDS.split())
#: What makes a noun phrase point back into its text: it names nothing outside of it.
_POINTING_WORDS = (
    "other more such same many several various certain following above next previous different own few any some"
    " another additional further particular respective latter similar only exact no less much multiple most every"
    " each all both this that these those specific single actual whole entire given specified corresponding"
    " appropriate necessary usual"
)
_POINTING = frozenset(_POINTING_WORDS.split())

_AREAS_WORDS = "region province district area state county city town village department municipality island canton"
_AREAS = frozenset(_AREAS_WORDS.split())
_OURS = frozenset(("our", "your"))
#: Verbs behind which *the* means a kind: ``plays the violin``.
_OF_THE_KIND_WORDS = "play plays played playing learn learned learnt studied study join joined entered taught teaches"
_OF_THE_KIND = frozenset(_OF_THE_KIND_WORDS.split())
#: Verbs that mean little without their noun, and give a bare one no weight: ``take a look``, ``have fun``.
_LIGHT_VERBS_WORDS = (
    "have has had having 've take takes took taken taking make makes made making give gives gave given giving get gets"
    " got getting do does did done doing catch caught go goes went need needs needed love loves loved like likes liked"
    " appreciate appreciates deserve deserves enjoy enjoys keep keeps kept find finds bring brings see sees saw put"
    " puts show shows set add adds hit hits miss misses"
)
_LIGHT_VERBS = frozenset(_LIGHT_VERBS_WORDS.split())


def noun_phrase(noun: "Token") -> str:
    """The noun with what modifies it from the left; no article, no owner. A name is left as it is."""
    if is_named(noun) or noun.tag_ == "PRP":
        return _clean(noun.text)
    start = noun.i
    for child in reversed(list(noun.lefts)):
        if child.dep_ not in _MODIFIERS or child.text in '",("' or noun.i - child.left_edge.i > _LONGEST:
            break
        start = child.left_edge.i
    while start <= noun.i and noun.doc[start].tag_ in ("DT", "PDT", "PRP$", "WDT"):
        start += 1
    return _clean(noun.doc[start : noun.i + 1].text)


def _clean(name: str) -> str:
    """Without marks at its ends, but ``U.S.`` and ``Jr.`` keep their points."""
    stripped = name.strip(_EDGES)
    return (
        f"{stripped}."
        if name.endswith(f"{stripped}.") and re.search(r"\.\w+$|\b(?:Jr|Sr|Inc|Co|Ltd)$", stripped)
        else stripped
    )


def says_something(noun: "Token") -> bool:
    """A name, or a common noun that means something outside its sentence."""
    if is_named(noun):
        return True
    if not is_common(noun) or noun.lower_ in _OPINIONS or any(child.lower_ in _POINTING for child in noun.lefts):
        return False
    return noun.lower_ not in _EMPTY_NOUNS or any(child.dep_ in ("compound", "amod") for child in noun.lefts)


def is_empty(noun: "Token") -> bool:
    """The noun by itself stands for nothing."""
    return noun.lower_ in _EMPTY_NOUNS


def measured(noun: "Token") -> "Token | None":
    """What there is ``a lot of`` or ``a bit of``."""
    if noun.lower_ in _MEASURES:
        return next((target for word, target in prepositions(noun) if word == "of"), None)
    return None


def named_modifiers(noun: "Token") -> list["Token"]:
    """Names inside a common noun's phrase (``a Royal Air Force officer``), but not those of peoples."""
    if noun.text[0].isupper() or noun.lower_ in ("million", "billion"):
        return []  # "the Sacramento Kings" are no kings of Sacramento
    if noun.lower_ not in _AREAS and any(child.lower_ == "of" for child in noun.rights):
        return []  # "a Broadway revival of Annie": not a revival of Broadway
    return [child for child in noun.lefts if child.dep_ in ("compound", "nmod") and _is_proper_part(child)]


def _is_proper_part(token: "Token") -> bool:
    return is_named(token) and not is_time(token) and token.ent_type_ not in ("", "NORP", "LANGUAGE")


def is_stranded(preposition: "Token") -> bool:
    """A preposition that governs nothing, as in ``directed by and starring``."""
    return preposition.dep_ in ("prep", "agent") and not list(preposition.children)


def is_definite(noun: "Token") -> bool:
    """``the decision`` and ``this decision``, which the text has told of, and no other word with it."""
    children = list(noun.lefts)
    return len(children) == 1 and children[0].lower_ in ("the", "this")


def verb_group(verb: "Token") -> str:
    """The verb with its auxiliaries, negation, particle and stranded preposition, in the order of the sentence."""
    parts = [child for child in verb.children if child.dep_ in _VERB_PARTS and child.tag_ != "TO" and child.text != "-"]
    parts += [child for child in verb.rights if is_stranded(child) or child.lower_ == "forward"]
    words = " ".join(token.lower_ for token in sorted([verb, *parts], key=lambda token: token.i))
    for short, full in _CONTRACTIONS:
        words = short.sub(full, words)
    return words


def with_conjuncts(token: "Token") -> Iterator["Token"]:
    """The token and all that is listed with it; the parser takes some lists of names for appositions."""
    waiting = [token]  # not by recursion: a list may have a thousand names, each hanging on the one before
    while waiting:
        head = waiting.pop()
        yield head
        if any(child.dep_ in ("cc", "preconj") and child.lower_ in _CONTRASTS for child in head.children):
            continue  # "during user filtering, but not during system filtering"
        listed = [child for child in head.children if _is_conjunct(head, child) or _is_listed_apposition(head, child)]
        waiting += reversed(listed)


def _is_conjunct(head: "Token", child: "Token") -> bool:
    """``ruled Hesse and a general``: a name and a noun with an article of its own are no list."""
    if child.dep_ != "conj" or not (is_named(head) and is_common(child)):
        return child.dep_ == "conj"
    return not any(word.lower_ in ("a", "an") for word in child.lefts)


def _is_listed_apposition(head: "Token", child: "Token") -> bool:
    return child.dep_ == "appos" and is_listed(head, child)


def is_listed(token: "Token", other: "Token") -> bool:
    """Two names of one kind with a comma between them are two things; but of two places, one lies in the other."""
    if not (is_named(token) and is_named(other)) or token.ent_type_ in PLACE_KINDS or is_time(token):
        return False
    return bool(token.ent_type_) and token.ent_type_ == other.ent_type_


def prepositions(head: "Token") -> Iterator[tuple[str, "Token"]]:
    """Each preposition of the head, with the nouns it governs: ``("out of", competition)``."""
    for child in head.children:
        if child.dep_ in ("prep", "agent", "dative") and child.tag_ in ("IN", "TO", "RP", "VBG", "RB", "JJ"):
            for preposition in with_conjuncts(child) if not _is_denied(child) else ():
                yield from _governed(preposition)


def _is_denied(preposition: "Token") -> bool:
    """``but not during``, ``instead of``: what the preposition leads to is not so."""
    before = preposition.doc[preposition.i - 1] if preposition.i else preposition
    return (before.lower_ == "not" and before.head == preposition) or before.lower_ in _EXCEPTING


def _governed(preposition: "Token") -> Iterator[tuple[str, "Token"]]:
    word = preposition.lower_
    if word in _EXCEPTING:
        return
    governs = any(child.dep_ == "pobj" for child in preposition.children)
    for child in preposition.children:
        if child.dep_ == "pobj":
            for noun in with_conjuncts(child):
                yield word, noun
        elif child.dep_ == "prep":
            yield from ((inner if governs else f"{word} {inner}", noun) for inner, noun in _governed(child))


def singular(phrase: str) -> str:
    """``file systems`` as one of them is called."""
    if phrase.endswith("ies"):
        return f"{phrase[:-3]}y"
    return phrase[:-2] if phrase.endswith(("ches", "shes", "xes", "sses")) else phrase.removesuffix("s")


def is_bracketed(head: "Token", child: "Token") -> bool:
    """A bracket or a colon stands between the two: an aside or a list is no apposition."""
    return any(token.text in "([:" for token in head.doc[head.i + 1 : child.i])


def is_complete(noun: "Token") -> bool:
    """Nothing behind the noun says which one is meant: ``ability to``, ``files that``, ``history of``."""
    return not any(child.dep_ in ("relcl", "acl", "prep", "ccomp") for child in noun.rights)


def is_vague(noun: "Token") -> bool:
    """A bare noun that only its text explains: ``the game``, ``his duties``, ``our cafe``, ``take a bath``."""
    if not is_common(noun) or noun.text[0].isupper():
        return False
    before = {child.lower_ for child in noun.lefts if child.dep_ in ("det", "poss")}
    if before & _OURS or noun_phrase(noun).startswith(("them ", "him ", "it ")):
        return True
    if " " in noun_phrase(noun):
        return False
    pointed = noun.head.lower_ not in _OF_THE_KIND and any(
        child.lower_ == "the" or (child.dep_ == "poss" and child.tag_ == "PRP$") for child in noun.lefts
    )
    first = noun
    while first.dep_ == "conj":
        first = first.head
    return pointed or (first.dep_ == "dobj" and first.head.lower_ in _LIGHT_VERBS)
