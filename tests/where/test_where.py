"""Filters: what holds for which passage, and what is wrong with one that cannot be read."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import read_table
from triplebeam.errors import BadInputError
from triplebeam.where import parse, warn_of_other_spellings

FIELDS = {
    "year": "2020",
    "price": "12.50",
    "source": "The Verge",
    "published": "2023-10-04T09:30:00+02:00",
    "day": "2023-10-04",
    "tags": "release, docs",
    "draft": "false",
    "number of pages": "7",
    "in": "a word of the language",
    "published-by.name": "Ada",
}


@pytest.mark.parametrize(
    "where",
    [
        *("year = 2020", "year = '2020'", 'year = "2020"', "year = 2020.0", "year=2.02e3", "year != 2021"),
        *("year >= 2020", "year <= 2020", "year > 2019.5", "year < 20200", "price < 12.6", "price > -1"),
        *("source in ('a', 'The Verge')", "source not in ('a', \"b\")", "year in (2019, 2020)", "source > 'Slate'"),
        *("published >= '2023-10-04'", "published = '2023-10-04'", "published < '2023-10-05'", "day = '2023-10-04'"),
        *("published > '2023-10-04T07:00:00'", "published = '2023-10-04T07:30:00Z'", "day <= '2023-10-04T00:00:00Z'"),
        *("tags contains 'DOCS'", "source contains 'verge'", "draft = false", "year exists", "not draft = true"),
        *("year = 2020 and source = 'x' or draft = false", "(year = 1 or year = 2020) and not (draft = true)"),
        *("NOT year = 1 AND source CONTAINS 'v' OR year = 5", "not missing exists", "not missing = 3"),
        *("`number of pages` = 7", "`in` contains 'language'", "published-by.name = 'Ada'"),
    ],
)
def test_it_holds(where: str) -> None:
    assert parse(where).matches(FIELDS)


@pytest.mark.parametrize(
    "where",
    [
        *("year = 2021", "year < 2020", "source = 'the verge'", "source > 3", "year > '2020-01-01'", "tags = 'docs'"),
        *("missing = 3", "missing != 3", "missing not in (3, 4)", "missing contains ''", "missing exists"),
        *("published < '2023-10-04'", "published > '2023-10-04'", "year = 2020 and (draft = true or source = 'x')"),
        *("not year = 2020", "not (year = 2020 or draft = true)", "source in ('The', 'Verge')", "draft = 'False'"),
    ],
)
def test_it_does_not_hold(where: str) -> None:
    assert not parse(where).matches(FIELDS)


@given(
    value=st.integers(-1000, 1000),
    other=st.integers(-1000, 1000),
    sign=st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
)
def test_numbers_are_compared_as_numbers(value: int, other: int, sign: str) -> None:
    compare = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le}
    compare |= {">": operator.gt, ">=": operator.ge}
    assert parse(f"n {sign} {other}").matches({"n": str(value)}) == compare[sign](value, other)


@pytest.mark.parametrize(("literal", "same", "others"), read_table(__file__, "test_numbers_are_exact"))
def test_numbers_are_exact(literal: str, same: tuple[str, ...], others: tuple[str, ...]) -> None:
    """A key may be bound to `tenant = 1145678901234567890`: the tenant after it must not match."""
    for where in (f"x = {literal}", f"x in ({literal})", f"x >= {literal} and x <= {literal}"):
        assert tuple(value for value in same + others if parse(where).matches({"x": value})) == same


@pytest.mark.parametrize("number", ["１０", "1e9999", "1_0"])
def test_what_is_no_such_number_is_refused(number: str) -> None:
    with pytest.raises(BadInputError, match="at character 5"):
        parse(f"x = {number}")


@given(st.text(alphabet="ab1 ='\"()<>!,`~\\\n.-é", max_size=30))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except BadInputError as error:
        said = str(error)
    else:
        return
    assert "at character" in said or not text.strip()


@pytest.mark.parametrize(
    ("where", "place", "what"),
    [
        ("  ", "the filter is empty", "leave it out"),
        ("source = wiki", "character 10, at 'wiki'", "a text must be in quotes: write 'wiki'"),
        ("year == 2020", "character 7, at '= 2020'", "write a single `=`"),
        ("`number of = 1", "character 1, at", "the closing quote is missing"),
        ("year = §3", "character 8, at '§3'", "no name, value or operator begins like this"),
        ("year >> 3", "character 7, at '> 3'", "a value was expected"),
        ("year = 2020 source = 'a'", "character 13, at \"source = 'a'\"", "`and`, `or` or the end was expected"),
        ("year 2020", "character 6, at '2020'", "=, !=, <, <=, >, >=, in"),
        ("year not 3", "character 10, at '3'", "`in` was expected after `not`"),
        ("year in 3", "character 9, at '3'", "an opening bracket"),
        ("year in (3", "character 11, its end", "a comma or a closing bracket"),
        ("(year = 3", "character 10, its end", "a closing bracket"),
        ("title = 'open", 'character 9, at "\'open"', "the closing quote is missing"),
        ("__import__('os')", "character 11, at \"('os')\"", "=, !=, <, <=, >, >=, in"),
        ("not " * 60 + "a = 1", "character", "too many brackets"),
        ("and = 3", "character 1, at 'and = 3'", "between backquotes"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(where: str, place: str, what: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse(where)
    assert place in str(refused.value)
    assert what in str(refused.value)
    assert str(refused.value).count(". ") == 0


def test_a_long_filter_is_refused() -> None:
    with pytest.raises(
        BadInputError, match=r"^the filter must have at most 2,000 characters, got 2,005: shorten it\.$"
    ):
        parse("a = '" + "x" * 1999 + "'")


KNOWN = {"year": ["2019", "2020"], "source": ["The Verge"], "day": ["2023-10-04"]}


@pytest.mark.parametrize(("where", "message"), read_table(__file__, "test_fields_and_kinds_are_checked"))
def test_fields_and_kinds_are_checked(where: str, message: str) -> None:
    with pytest.raises(BadInputError) as refused:
        parse(where).check(KNOWN)
    assert str(refused.value) == message


def test_filters_that_mean_the_same_are_equal() -> None:
    assert parse("a=1 and b='x'") == parse('(a = 1) AND b = "x"')
    assert parse("a = 1") != parse("a = 2")
    assert parse(parse("a = 1")) == parse("a = 1")
    assert str(parse("a=1")) == "a=1"


def test_values_in_another_case_are_found() -> None:
    assert parse("source in ('the verge', 'Wired') or year = 2019").find_case_mismatches(KNOWN) == ["The Verge"]
    assert parse("source = 'The Verge' and not source = 'verge'").find_case_mismatches(KNOWN) == []


@pytest.mark.parametrize(
    ("where", "other", "warned"), read_table(__file__, "test_other_spellings_of_a_value_are_warned_of")
)
def test_other_spellings_of_a_value_are_warned_of(where: str, other: str, warned: str) -> None:
    [sentence] = warn_of_other_spellings(parse(where))
    assert warned in sentence
    assert not other or parse(where).matches({"tenant": other}), "what is said is so"


@pytest.mark.parametrize(
    "where", ["tenant = '1'", "tenant = 'd2024-01-01'", "year >= 2020", "tenant != 1", "draft = true"]
)
def test_values_that_match_themselves_alone_are_not(where: str) -> None:
    assert warn_of_other_spellings(parse(where)) == []


@pytest.mark.parametrize("wrong", [{"year": 1781}, {}, ["year = 1"], 1781, b"year = 1"])
def test_a_filter_that_is_no_text_is_one_sentence(wrong: object) -> None:
    with pytest.raises(BadInputError, match=r"^where must be a filter written as text, got the .*: write where=\"year"):
        parse(wrong)  # type: ignore[arg-type]
