"""Words of English that the check knows, and the reduction of a word to what its forms share."""

from functools import cache


def listed(words: str) -> frozenset[str]:
    """A set of words, written as a line of them."""
    return frozenset(words.split())


ARTICLES = listed("a an the")
COPULAS = listed("is was are were be been being am became become becomes remains remained")
AUXILIARIES = COPULAS | listed("has have had do does did will would can could may might must shall should")
#: Prepositions, grouped: two of a group may replace each other in a relation.
PREPOSITIONS = {
    word: group
    for group, words in {
        "on": "on",
        "place": "in at within inside during near around since until before after between",
        "goal": "to into onto toward towards",
        "origin": "from",
        "owner": "of",
        "company": "with alongside against",
        "agent": "by",
        "purpose": "for",
        "role": "as",
        "way": "through over under across via about along behind beyond above below upon off without",
    }.items()
    for word in words.split()
}
RELATIVES = listed("who which that whom where whose")
PRONOUNS = listed("he she it they his her its their him them")
#: Words that carry no relation of their own.
LIGHT = (
    ARTICLES
    | AUXILIARIES
    | PREPOSITIONS.keys()
    | PRONOUNS
    | listed("and or s t also who which that this there where having one then later now currently both such other")
)
#: Words of a predicate that say what kind of thing its object is.
KINDS_OF_OBJECT = listed("date place year day time number name named called known title amount type kind share")
#: A statement with one of these before or within it is not made, or not made outright.
DENIALS = listed(
    "not never no neither nor cannot without false falsely denied denies untrue myth hoax rumour rumor rumoured rumored"
    " supposedly allegedly incorrectly wrongly mistakenly almost nearly refused declined failed instead rather unlike"
    " if unless might could hypothetical fictional t"
)
_IRREGULAR_VERBS = listed(
    "born died wrote written won led made took taken gave given went gone came became began begun left met sold bought"
    " built held ran run grew grown fought taught sang sung shot spoke spoken wore drew drawn chose chosen fell found"
    " lost paid put sent set spent stood told understood saw seen said kept knew known brought broke cut rose shared"
    " lies lay lives plays starring comprising containing including featuring consisting playing living"
)
_ROLE_NOUNS = listed(
    "author architect capital wife husband spouse mother father son daughter brother sister sibling child parent king"
    " queen president mayor governor captain chairman chairwoman ceo head chief birthplace headquarters subsidiary"
    " successor predecessor chancellor emperor host creator widow uncle aunt cousin niece nephew"
    " grandson granddaughter grandfather grandmother"
)
_NOT_ROLES = listed(
    "number member river together other another under however order later former major minor never over"
)
#: Words that may replace one another in a relation; the first of a line names them all.
_EQUIVALENTS = """
bear born birth birthplace birthdate
die died dies death dead deceased
direct directed director directs directing
write wrote written writes writing author authored writer authors novelist penned
found founded founder founders founding established establish establishes creator created create creates
marry married marries marriage wife husband spouse wed widow
locate located lies lie lay location situated sits stands
lead led leads leader leading
win won wins winner winning
perform performed performs performer performing performance sung sang sings singer
produce produced produces producer production
star starred stars starring
play played plays player playing
release released releases releasing
child children
son sons
daughter daughters
parent parents
father fathers
mother mothers
sibling brother sister siblings
own owned owns owner ownership
belong belongs belonged part member
begin began begun begins started start starts
build built builds builder constructed construction
compose composed composer composes
population inhabitants populated
come comes came coming
"""
SYMMETRIC = frozenset({"marry", "sibling"})
_CHILD, _PARENT = listed("child son daughter"), listed("parent father mother")
#: What also says it: "the son of" for "a child of".
KIN = {"child": _CHILD, "parent": _PARENT}
#: What says the same of the two the other way round.
INVERSE = {word: other for group, other in ((_CHILD, _PARENT), (_PARENT, _CHILD)) for word in group}
_CANONICAL = {word: line.split()[0] for line in _EQUIVALENTS.strip().splitlines() for word in line.split()}
#: Relations with a name of their own: another word is no paraphrase of them.
KNOWN = frozenset(_CANONICAL.values())
_SUFFIXES = ("ingly", "edly", "ations", "ation", "ings", "ing", "ied", "ies", "ers", "ors", "ed", "er", "or", "es", "s")
_SHORTEST_STEM = 3


@cache
def stem(word: str) -> str:
    """What the forms of a word, and its equivalents in a relation, share."""
    if word in _CANONICAL:
        return _CANONICAL[word]
    if not word.isalpha():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM and not word.endswith("ss"):
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    word = word[:-1] if word.endswith(("e", "y")) and len(word) > _SHORTEST_STEM else word
    return _CANONICAL.get(word, word)


def is_verb(word: str) -> bool:
    """Looks like a verb: auxiliaries, past forms."""
    return word in AUXILIARIES or word in _IRREGULAR_VERBS or (word.endswith("ed") and len(word) > 4)


def is_role(word: str) -> bool:
    """Names a part that one entity plays towards another: "director", "wife", "capital"."""
    if word in _ROLE_NOUNS:
        return True
    return len(word) > 4 and word.endswith(("er", "or")) and word not in _NOT_ROLES and word not in LIGHT
