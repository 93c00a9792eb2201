import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from triplebeam.errors import EndpointError
from triplebeam.generate.language_model import Completion
from triplebeam.generate.parse import parse, read_object


class Reply(BaseModel):
    names: list[str]
    rows: list[list[str]]


GOOD = '{"names": ["a"], "rows": [["a", "b", "c"]]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are:\n```\n{GOOD}\n```\nI hope {{this}} helps!",
        f"<think>They want {{names}}. Hmm.</think>\n{GOOD}",
        GOOD[:-1],
        GOOD.replace("]]", "],]"),
        f"Sure: {GOOD.replace(']]', '],]')}\n```\nDone.",
        GOOD.replace('"names"', "names"),
    ],
)
def test_an_object_is_found_through_dressing_and_small_damage(text: str) -> None:
    assert parse(Completion(text=text), Reply) == Reply(names=["a"], rows=[["a", "b", "c"]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("I am sorry, I cannot.", "holds no JSON object; it begins with 'I am sorry, I cannot.'"),
        ("[1, 2]", "holds no JSON object"),
        ('{"a":' * 10_000, "holds no JSON object"),
        ("{" * 100_001, "has 100,001 characters, more than the 100,000 that are read"),
        ("{}", r"is not what was asked for \(names: Field required; rows: Field required\)"),
        ('{"names": "a", "rows": []}', r"\(names: Input should be a valid list\)"),
        ('{"names": [], "rows": [["a", 1]]}', r"\(rows.0.1: "),
    ],
)
def test_a_reply_that_cannot_be_used_is_shown_in_the_error(text: str, message: str) -> None:
    with pytest.raises(EndpointError, match=message) as caught:
        parse(Completion(text=text), Reply)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"names": ["a"], "rows": [["a", "b", "c"], ["d", "e", "19', [["a", "b", "c"]]),
        ('{"names": ["a"], "rows": [["a", "b", "c"], ["d", "e", 19', [["a", "b", "c"]]),
        ('{"names": ["a"], "rows": [["a", "b", "c"], ["d", "e", "f"', [["a", "b", "c"]]),
        ('{"names": ["a"], "rows": [["a", "b", "c"], ["d", "e", "f"]', [["a", "b", "c"], ["d", "e", "f"]]),
        ('```json\n{"names": ["a"], "rows": [["a", "b", "c"], [\n```', [["a", "b", "c"]]),
        ('{"rows": [["a", "b", "c"]], "names": ["a", "b', [["a", "b", "c"]]),
    ],
)
def test_what_was_cut_off_without_a_word_is_left_out(text: str, rows: list[list[str]]) -> None:
    assert parse(Completion(text=text), Reply) == Reply(names=["a"], rows=rows)


@pytest.mark.parametrize("prose", [" I hope this helps.", "\n\nI hope this helps.", '\n```\nIt is "tall", [1] says.'])
@pytest.mark.parametrize(
    ("text", "others"),
    [
        ('{"answer": "It is 5" tall", "facts": [["a", "b", "c"]]}', {"facts": [["a", "b", "c"]]}),
        ('{"facts": [["a", "b", "c"]], "answer": "It is 5" tall"}', {"facts": [["a", "b", "c"]]}),
        ('{"facts": [{"subject": "a"}], "answer": "It is 5" tall"}', {"facts": [{"subject": "a"}]}),
        ('{"answer": "It is 5" tall", "sure": true}', {"sure": True}),
        ('{"answer": "It is 5" tall", "by": {"name": "a"}}', {"by": {"name": "a"}}),
    ],
)
def test_a_quotation_mark_too_many_before_prose_is_repaired(text: str, others: dict[str, object], prose: str) -> None:
    value = read_object(text + prose)
    assert str(value.pop("answer")).rstrip('"') == 'It is 5" tall'  # the repair may keep the closing one
    assert value == others


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b", "c": "the set {1, 2} of num',
        '{"a": "b", "c": "x_{\\\\text{max}} of the fun',
        '{"a": "b", "c": "{\\"x\\": \\"y\\", \\"n\\": 1} is th',
        '{"a": "b", "c": "{\\"x\\": \\"y\\"} is th',
        '{"a": "b", "c": {"d": "e"}, f',
    ],
)
def test_a_brace_inside_a_text_that_was_cut_off_is_no_end(text: str) -> None:
    assert read_object(text) in ({"a": "b"}, {"a": "b", "c": {"d": "e"}})


@pytest.mark.parametrize("text", ['{"names": ["a", "rows": [[["x"', '{"names": ["a"], "rows"', '{"names": ["a"', "{"])
def test_what_was_cut_off_before_a_field_is_no_reply(text: str) -> None:
    with pytest.raises(EndpointError, match="is not what was asked for"):
        parse(Completion(text=text), Reply)


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert read_object(r'{"a": "x\ud83d", "b": "\ud83d\ude00"}') == {"a": "x\ufffd", "b": "😀"}


@settings(deadline=None)
@given(st.text(alphabet='{}[]":,\\ab1 \n', max_size=60))
def test_whatever_comes_is_an_object_or_an_endpoint_error(text: str) -> None:
    try:
        value = read_object(text)
    except EndpointError:
        return
    assert isinstance(value, dict)
