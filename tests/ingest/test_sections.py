"""Passages and the sections they are in."""

from hypothesis import given
from hypothesis import strategies as st

from triplebeam.ingest.content import Content
from triplebeam.ingest.html import read_html
from triplebeam.ingest.plain import read_plain
from triplebeam.ingest.split import split
from triplebeam.passage import Document, Passage


def cut(content: Content, limit: int = 40, title: str = "") -> list[Passage]:
    document = Document(id="d", text=content.text, title=title, headings=content.headings, links=content.links)
    return split(document, limit)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * (count - 1)) + " end."


def test_a_passage_knows_the_path_of_its_headings() -> None:
    page = f"<h1>Manual</h1><p>{words(20)}</p><h2>Uploads</h2><h3>By hand</h3><p>{words(30)}</p><p>{words(30)}</p>"
    passages = cut(read_html(page), title="The Manual")
    assert [passage.section for passage in passages] == ["", "Uploads › By hand", "Uploads › By hand"]
    assert passages[1].text.startswith("Uploads\n\nBy hand\n\nword")
    assert passages[2].searchable == f"The Manual\nUploads › By hand\n{passages[2].text}"
    assert passages[2].term_text == f"The Manual\n{passages[2].searchable}"


def test_a_chapter_that_is_the_title_but_for_its_number_goes_without_saying() -> None:
    page = f"<h2>Chapter 59 - Proxies</h2><p>{words(30)}</p><h3>1. Inbound proxies</h3><p>{words(30)}</p>"
    assert [passage.section for passage in cut(read_html(page), title="59. Proxies")] == ["", "1. Inbound proxies"]


def test_a_passage_without_a_section_is_searched_as_before() -> None:
    assert Passage("p", "text", "title").searchable == "title\ntext"
    assert Passage("p", "text").term_text == "text"


def test_sections_part_passages_unless_they_are_small_and_under_one_heading() -> None:
    page = "<h1>A</h1>" + "".join(f"<h2>A{n}</h2><p>{words(5)}</p>" for n in range(3)) + f"<h1>B</h1><p>{words(20)}</p>"
    assert [passage.section for passage in cut(read_html(page))] == ["A", "A › A2", "B"]


def test_definitions_are_found_under_their_headword() -> None:
    entries = "".join(f"<dt>term {n}<dd><p>{words(30)}</p><p>{words(30)}</p>" for n in range(2))
    passages = cut(read_html(f"<h2>Glossary</h2><dl>{entries}</dl>"))
    assert [passage.section for passage in passages] == [f"Glossary › term {n}" for n in (0, 0, 1, 1)]
    assert passages[2].text.startswith("term 1\nword")


def test_headwords_of_a_plain_glossary_go_with_their_text() -> None:
    text = "\n\n".join(f":term{n}: n. {words(30)}\n\n{words(30)}" for n in range(2))
    assert [passage.section for passage in cut(read_plain(text))] == ["term0", "term0", "term1", "term1"]


def test_lists_are_cut_between_items() -> None:
    items = "".join(f"<li>{words(6)} {words(6)}</li>" for _ in range(5))
    passages = cut(read_html(f"<ul>{items}</ul>"), limit=40)
    assert all(passage.text.startswith("- ") and passage.text.endswith("end.") for passage in passages)
    assert [passage.text.count("- ") for passage in passages] == [2, 2, 1]


_HEADINGS = ("<h1>One</h1>", "<h2>Two</h2>", "<h3>Three</h3>")
_LISTS = ("<dl><dt>term<dd>definition</dl>", "<ul><li>a<li>b</ul>", "<table><tr><td>1<td>2</table>")
_TEXTS = ("<p>Some words are here. And more.</p>", f"<p>{words(50)}</p>", "<pre>x\n  y</pre>")
_BLOCKS = st.sampled_from([*_HEADINGS, *_LISTS, *_TEXTS])


@given(st.lists(_BLOCKS, max_size=12).map("".join), st.integers(1, 60))
def test_whatever_the_sections_passages_are_stretches_of_the_text_and_lose_nothing(page: str, limit: int) -> None:
    content = read_html(page)
    last = 0
    for passage in cut(content, limit):
        assert passage.text == content.text[passage.start : passage.end]
        assert not content.text[last : passage.start].strip()
        known = {heading.text for heading in content.headings}
        assert not passage.section or set(passage.section.split(" › ")) <= known
        last = passage.end
    assert not content.text[last:].strip()
