"""Words that say little by themselves: which ones, depends on what is asked of a text."""


def word_set(listing: str) -> frozenset[str]:
    """Split a text into a set of words."""
    return frozenset(listing.split())


ARTICLES = word_set("a an the")
PRONOUNS = word_set("he she it they his her its their him them")
REFLEXIVES = word_set("himself herself itself themselves")
AUXILIARIES = word_set(
    "is was are were be been being am has have had do does did will would can could may might must shall should"
)
#: Words that no name is known by.
LIGHT_WORDS = ARTICLES | PRONOUNS | AUXILIARIES
LIGHT_WORDS |= word_set(
    "on upon in at within inside during since until before after near around between to into onto toward towards from"
    " of with alongside against by for as through over under across via about along behind beyond above below off"
    " without and or s t also who which that this there where one then later now both such other"
)
#: Words that say nothing about what a question asks for.
QUERY_STOP_WORDS = word_set(
    "a an and are as at be been but by did do does for from had has have he her his how if in into is it its no not of"
    " on or she such than that the their then there these they this to was were what when where which who whom whose"
    " why will with"
)
#: The commonest words of English that no other language's text is full of.
FUNCTION_WORDS = word_set(
    "the of and to a in is that it for was on with as are be this by at from or an which but not have has had he"
    " his her she they their its were been will can if when who you your i we our my all there these those than"
    " then also more into only other some such no so do does did may must should would could one each any after"
    " before between while where about over under through during because up out most them him me us what how just"
)
