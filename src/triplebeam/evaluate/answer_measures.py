"""Exact Match and F1 of a short answer, as SQuAD, HotpotQA, 2WikiMultiHopQA and MuSiQue count them.

Both compare normal forms: lower case, ASCII punctuation deleted (a hyphen joins its words, ``1,000`` is ``1000``), the
words a, an and the left out, white space folded. Nothing else is folded, as in the official scripts: a typographic dash
or quotation mark stays, accents stay, and ``2`` is not ``two``. Of several accepted answers the best one counts.

The official scripts part ways twice. HotpotQA's and 2WikiMultiHopQA's give no partial credit where either side is yes,
no or noanswer; SQuAD's and MuSiQue's do, hence ``partial_yes_no``. Where both sides are empty, F1 is 1 in SQuAD 2.0's
and MuSiQue's and 0 in the others; here it is 1, so that F1 is never below Exact Match.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

from triplebeam.errors import BadInputError

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_ALL_OR_NOTHING = ("yes", "no", "noanswer")


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1 where the prediction is one of the accepted answers in normal form, else 0."""
    found = normal_form(prediction)
    return max(float(found == normal_form(answer)) for answer in _accepted(answers))


def f1(prediction: str, answers: Sequence[str], *, partial_yes_no: bool = False) -> float:
    """The harmonic mean of precision and recall over words, best over the accepted answers.

    ``partial_yes_no`` is off for HotpotQA and 2WikiMultiHopQA, and on to follow MuSiQue's and SQuAD's scripts.
    """
    found = normal_form(prediction)
    return max(_f1(found, normal_form(answer), partial_yes_no) for answer in _accepted(answers))


def normal_form(text: str) -> str:
    """A text as it is compared. Punctuation goes first: ``the.`` is an article, and ``A.`` too."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


def _f1(found: str, answer: str, partial_yes_no: bool) -> float:
    if found == answer:
        return 1.0
    if not partial_yes_no and (found in _ALL_OR_NOTHING or answer in _ALL_OR_NOTHING):
        return 0.0
    found_words, answer_words = found.split(), answer.split()
    shared = (Counter(found_words) & Counter(answer_words)).total()
    return 2 * shared / (len(found_words) + len(answer_words))  # 2PR / (P + R), with P and R over the same count


def _accepted(answers: Sequence[str]) -> Sequence[str]:
    if isinstance(answers, str) or not answers:
        raise BadInputError(f"A prediction is measured against a list of one or more answers, not {answers!r}.")
    return answers
