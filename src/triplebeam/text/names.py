"""Normal forms: two names in one form are one entity, and two answers in one form are one answer."""

import re
from functools import lru_cache

from triplebeam.text.characters import strip_accents
from triplebeam.text.stop_words import ARTICLES
from triplebeam.text.words import WORD

_ARTICLE = rf"(?:{'|'.join(sorted(ARTICLES))})"
_ARTICLES = re.compile(rf"\b{_ARTICLE}\b")
_FIRST_ARTICLE = re.compile(rf"^{_ARTICLE}\s+(?=\S)", re.IGNORECASE)
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")


@lru_cache(maxsize=100_000)
def entity_key(name: str) -> str:
    """Give the normal form of an entity: lower case, punctuation to spaces, one space between words.

    A name of nothing but punctuation stays as it is, so that two such names are not one entity.
    """
    return " ".join(WORD.findall(name.casefold())) or name.strip()


def split_name(name: str) -> list[str]:
    """Split a name in its normal form into words without accents: texts and titles differ in them."""
    return strip_accents(entity_key(name)).split()


def strip_article(name: str) -> str:
    """Strip the article that a name begins with, unless nothing follows it."""
    return _FIRST_ARTICLE.sub("", name)


def strip_articles(text: str) -> str:
    """Strip all articles of a lower-case text; one space is left between words."""
    return " ".join(_ARTICLES.sub(" ", text).split())


def strip_qualifier(title: str) -> str:
    """Strip what stands in brackets at the end of a title: "Bath (film)" is called "Bath"."""
    return _QUALIFIER.sub("", title)
