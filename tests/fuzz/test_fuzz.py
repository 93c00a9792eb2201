"""Whatever comes in from outside: it is read, or refused in a sentence, and nothing else happens.

`make test` tries the same few inputs of each kind every time, `make fuzz` others for a minute, or for as long as
`make fuzz SECONDS=3600` says.
"""

import contextlib
import json
import os

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from triplebeam.assemble.table import list_agents, list_retrievers
from triplebeam.errors import EndpointError, SourceError, TriplebeamError
from triplebeam.extract.local.facts import read_passage
from triplebeam.generate.parse import drop_cut_item, read_object
from triplebeam.ingest.content import Content
from triplebeam.ingest.sources import BINARY_READERS, TEXT_READERS, read_content
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Passage
from triplebeam.serve.limits import Limits
from triplebeam.text.characters import replace_control_characters
from triplebeam.text.sentences import sentence_spans

#: How many inputs of each kind; 0: the same few as always.
EXAMPLES = int(os.environ.get("TRIPLEBEAM_FUZZ_EXAMPLES", "0"))

fuzzed = settings(
    max_examples=EXAMPLES or 40,
    deadline=None,
    database=None,
    derandomize=not EXAMPLES,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
MARKS = (
    *("`", "*", "_", "![", "](", "[^a]: ", "<b>", "</b>", "<table>", "<td>", "<!--", "&amp;", "&#", "> ", "- ", "1. "),
    *("|", "::", "..", ".. a::", "====", "----", "\n", "\n\n", "    ", "{", "}", '"', "\\", "{\\rtf1", "\\'", "From "),
    *("Content-Type: multipart/mixed; boundary=a\n\n--a\n", "=?utf-8?q?", "a.b.", "e.g. ", "Mr. ", "word", "Ann ", "é"),
    *("\u200b", "\u202e", "\x1b[2J", "\ud800", "。", "\r", "\t", "1_000", "+5", "inf", "nan", "1e999", "%", "/", "~"),
)
marked = st.lists(st.sampled_from(MARKS) | st.text(max_size=5), max_size=40).map("".join)


def whole(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


@fuzzed
@given(data=marked.map(whole) | st.binary(max_size=300), ending=st.sampled_from([*TEXT_READERS, *BINARY_READERS]))
def test_readers_and_the_splitter(data: bytes, ending: str) -> None:
    try:
        content = read_content(data, ending)
    except SourceError:
        return
    for part in content.parts or (content,):
        assert all(0 <= heading.start <= len(part.text) for heading in part.headings)
        check_passages(part)


def check_passages(content: Content) -> None:
    passages = split(Document(id="a", text=content.text, headings=content.headings), 7)
    assert [content.text[each.start : each.end] for each in passages] == [each.text for each in passages]
    spans = list(sentence_spans(content.text))
    assert spans == sorted(spans)


@fuzzed
@given(text=marked, title=marked)
def test_what_the_local_extractor_reads(text: str, title: str) -> None:
    reading = read_passage(Passage("a", text, title))
    assert all(0 <= start < end <= len(reading.plain.text) for start, end in reading.plain.titles)


@fuzzed
@given(text=st.lists(st.sampled_from([*'{}[]",:', "a", "19", "null", "\\", "```", " "]), max_size=40).map("".join))
def test_replies_of_models(text: str) -> None:
    assert text.startswith(drop_cut_item(text))
    with contextlib.suppress(EndpointError):
        assert isinstance(read_object(text), dict)


@fuzzed
@given(text=st.text() | marked)
def test_what_terminals_show(text: str) -> None:
    assert not set(replace_control_characters(text)) & {"\x1b", "\x07", "\x9b", "\r", "\u202e"}
    assert len(replace_control_characters(text)) == len(text)


names = st.sampled_from([*list_retrievers(), *list_agents(), "run:x", ""])
values = st.sampled_from(["0", "-1", "1_000", "+5", "inf", "-inf", "nan", "1e999", "yes", "no", "llm", "exact", "0.99"])
rows = [*list_retrievers().values(), *list_agents().values()]
parameters = st.sampled_from(sorted({name for row in rows for name in row.parameters}))
bracketed = st.lists(st.tuples(parameters, values).map("=".join), min_size=1, max_size=3).map(
    lambda pairs: f"[{','.join(pairs)}]"
)
part = st.builds("{}{}{}".format, names, st.sampled_from(["", "@triples", "@"]), bracketed | st.just(""))
methods = st.lists(part, min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from(["+", ":"]).map(lambda sign: sign.join(parts))
)


@fuzzed
@given(method=methods | marked)
def test_names_of_methods(method: str) -> None:
    with contextlib.suppress(TriplebeamError):
        assert Limits().check("Who?", method).text == method


json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | marked, st.lists, max_leaves=5)
bodies = st.dictionaries(st.sampled_from(["question", "method", "k", "conversation", "model", "messages"]), json_values)


@pytest.mark.slow
@fuzzed
@given(
    body=bodies | st.builds(dict, question=st.just("Who?"), method=methods, k=st.just(3)),
    route=st.sampled_from(["/api/indexes/world/search", "/api/indexes/world/ask", "/v1/chat/completions"]),
)
def test_bodies_of_requests(client: TestClient, body: dict[str, object], route: str) -> None:
    response = client.post(route, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code < 500 or response.status_code in (503, 504), (body, response.text)
