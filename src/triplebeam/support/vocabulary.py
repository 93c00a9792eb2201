"""Words of English that the check knows."""


def listed(words: str) -> frozenset[str]:
    """A set of words, written as a line of them."""
    return frozenset(words.split())


ARTICLES = listed("a an the")
PRONOUNS = listed("he she it they his her its their him them")
COPULAS = listed("is was are were be been being am became become becomes remains remained")
_AUXILIARIES = COPULAS | listed("has have had do does did will would can could may might must shall should")
#: Prepositions, grouped: two of a group may replace each other in a relation.
PREPOSITIONS = {
    word: group
    for group, words in {
        "on": "on upon",
        "in": "in at within inside",
        "during": "during since until before after",
        "near": "near around between",
        "to": "to into onto toward towards",
        "from": "from",
        "of": "of",
        "with": "with alongside against",
        "by": "by",
        "for": "for",
        "as": "as",
        "through": "through over under across via about along behind beyond above below off without",
    }.items()
    for word in words.split()
}
RELATIVES = listed("who which that whom where whose while although but because")
#: Words that carry no relation of their own.
LIGHT = (
    ARTICLES
    | PRONOUNS
    | _AUXILIARIES
    | PREPOSITIONS.keys()
    | listed("and or s t also who which that this there where having one then later now currently both such other")
)
VERBS = _AUXILIARIES | listed(
    "born died wrote written won led made took taken gave given went gone came became began begun left met sold bought"
    " built held ran run grew grown fought taught sang sung shot spoke spoken wore drew drawn chose chosen fell found"
    " lost paid put sent set spent stood told understood saw seen said kept knew known brought broke cut rose shared"
    " lies lay lives plays starring comprising containing featuring consisting playing living"
)
#: Participles that open no clause of their own.
TRANSPARENT = listed("including located situated named called titled entitled estimated")
#: Words of a predicate that say what kind of thing its object is.
KINDS_OF_OBJECT = listed("date place year day time number amount type kind share full real also best")
#: A statement with one of these in it is not made, or not made outright.
DENIALS = listed(
    "not never no neither nor cannot false falsely denied denies untrue myth hoax rumour rumor rumoured rumored"
    " supposedly allegedly incorrectly wrongly mistakenly almost nearly refused declined failed if unless might t"
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = {word: str(number) for number, word in enumerate(_NUMBERS, start=1)}
#: Words that may replace one another in a relation; the first of a line names them all.
_RELATIONS = """
bear born birth b birthplace birthdate
die died dies d death dead deceased
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
play played plays player playing role portray portrayed portrays
name named names called known nickname nicknamed alias
release released releases releasing
child children
son sons
daughter daughters
parent parents
father fathers
mother mothers
sibling brother sister siblings brothers sisters
own owned owns owner ownership
belong belongs belonged part member members
begin began begun begins started start starts
build built builds builder constructed construction
compose composed composer composes
population inhabitants populated
"""
EQUIVALENTS = {word: line.split()[0] for line in _RELATIONS.strip().splitlines() for word in line.split()}
#: Relations with words of their own: no other word is a paraphrase of them.
KNOWN = frozenset(EQUIVALENTS.values()) - {"release"}
#: What a copula says of its subject without naming it: "is an English painter".
NATURES = listed("nationality nationalit citizenship occupation profession genr type kind")
#: What the year of a thing says: "a 1970 film".
APPEARING = listed("release publish issu premier com")
SYMMETRIC = frozenset({"marry", "divorc", "sibling", "name"})
#: A preposition says as much: "in" for "located in".
PLACING = listed("locate com")
GENERAL = {"son": "child", "daughter": "child", "father": "parent", "mother": "parent"}
#: What says the same of the two the other way round.
INVERSE = dict.fromkeys(("child", "son", "daughter"), "parent") | dict.fromkeys(("parent", "father", "mother"), "child")
ROLES = listed(
    "author architect capital wife husband spouse mother father son daughter brother sister sibling child parent king"
    " queen president mayor governor captain chairman chairwoman ceo head chief birthplace headquarters subsidiary"
    " successor predecessor chancellor emperor host creator widow uncle aunt cousin niece nephew"
)
NO_ROLES = LIGHT | listed(
    "character chapter transfer number member river higher lower order major minor former paper power water winter"
)
