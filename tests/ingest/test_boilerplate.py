"""Pages in the styles that people's documents come in: the content stays, what surrounds it goes."""

import pytest

from triplebeam.ingest.html import html_content

CONTENT = (
    "<h1 id='top'>Bridges<a class='headerlink' href='#top' title='Permalink'>¶</a></h1>"
    "<p>A bridge carries a road. See <a href='arch.html'>arches</a> and <a href='#load'>loads</a>.</p>"
    "<h2 id='load'>Loads</h2><ul><li>wind</li><li>snow on a <a href='deck.html'>deck</a></li></ul>"
)
TEXT = "Bridges\n\nA bridge carries a road. See arches and loads.\n\nLoads\n\n- wind\n- snow on a deck"
LINKS = "".join(f"<li><a href='p{n}.html'>Page {n}</a></li>" for n in range(6))
STEPS = "".join(f"<a accesskey='{name[0].lower()}' href='x.html'>{name}</a> " for name in ("Prev", "Up", "Next"))

PAGES = {
    "DocBook": "<div class='navheader'><table summary='Navigation header'><tr><th>Roads</th></tr><tr><td>{steps}</td>"
    "</tr></table></div>{toc}{content}<div class='navfooter'><hr>{steps} Chapter 3. Tunnels</div>",
    "DocBook without classes": "<div><table class='nav' summary='Navigation header'><tr><td>{steps}</td><th>Road Manual"
    "</th></tr></table></div>{content}<div><table summary='Navigation footer'><tr><td>{steps}</td></tr></table></div>",
    "Sphinx": "<div class='related' role='navigation'><h3>Navigation</h3><ul><li><a href='genindex.html'>index</a></li>"
    "</ul></div><div class='document'><div class='body' role='main'><section>{content}</section><div "
    "class='toctree-wrapper'><ul>{links}</ul></div></div></div><div class='sphinxsidebar'><h3>Contents</h3><ul>{links}"
    "</ul></div><div class='footer'>&copy; 2026, <a href='x'>Road people</a>.</div>",
    "Doxygen": "<div id='top'><div id='titlearea'>Road library 1.0</div></div><div id='nav-path' class='navpath'><ul>"
    "<li><a href='a.html'>road</a></li></ul></div><div class='contents'>{content}</div>"
    "<div id='MSearchResultsWindow'>Loading…</div>",
    "man page": "<a href='#index'>Index</a> <a href='../'>Return to Main Contents</a><hr>{content}<h2>Index</h2><dl>"
    "<dt><a href='#a'>NAME</a><dd><dt><a href='#b'>LOADS</a><dd><dt><a href='#c'>SEE ALSO</a><dd></dl>",
    "mandoc": "<table class='head'><tr><td>BRIDGE(7)</td></tr></table><main class='manual-text'>{content}</main>"
    "<table class='foot'><tr><td>May 2026</td></tr></table>",
    "Texinfo": "<div class='header'><p>Next: <a href='a.html' rel='next' accesskey='n'>Tunnels</a>, Up: "
    "<a href='b.html' rel='up' accesskey='u'>Roads</a> [<a href='i.html' rel='index'>Index</a>]</p></div>{content}",
    "MediaWiki": "<div id='content' role='main'><div id='jump-to-nav'></div><a class='mw-jump-link' href='#p'>Jump to "
    "search</a><div id='toc' class='toc'><h2>Contents</h2><ul>{links}</ul></div>{content}<div class='navbox'>Roads of "
    "the world and all on them</div><div id='catlinks' class='catlinks'>Categories: <a href='c'>Roads</a></div></div>"
    "<div id='mw-navigation'><h2>Navigation menu</h2><ul>{links}</ul></div>",
    "news": "<div class='cookie-banner'>We value your privacy. Accept all.</div><header><nav><ul>{links}</ul></nav>"
    "</header><article>{content}</article><aside class='related-stories'><ul>{links}</ul></aside>"
    "<div class='social-share'><a href='f'>Share</a></div><footer>Imprint and terms of use</footer>",
    "site's name": "<h1 id='header'><a href='http://roads.example'>Roads of the World</a></h1><div id='content'>"
    "<a class='previous_page' href='a.html'>&lt;-previous</a><a class='next_page' href='b.html'>next-&gt;</a>{content}"
    "<a class='toc_page' href='index.html'>Table of Contents</a></div>"
    "<div class='footer'>&copy; Copyright 2010-2026 Road people and the whole collective of those who wrote this "
    "manual (see the file AUTHORS). Created using <a href='http://x.example'>a generator</a>.</div>",
    "breadcrumbs": "<ol class='breadcrumb'><li><a href='/'>Home</a></li><li>Roads</li></ol>{content}"
    "<p><a href='a.html'>« Previous</a> | <a href='/'>Home</a> | <a href='b.html'>Next »</a></p>",
}
TOC = "<div class='toc'><p><b>Table of Contents</b></p><dl><dt>1. <a href='#load'>Loads</a></dt></dl></div>"


@pytest.mark.parametrize("style", PAGES)
def test_the_content_of_a_page_and_nothing_else(style: str) -> None:
    page = PAGES[style].format(content=CONTENT, steps=STEPS, links=LINKS, toc=TOC)
    content = html_content(f"<html><head><title>Bridges</title></head><body>{page}</body></html>")
    assert content.text == TEXT
    assert [heading.text for heading in content.headings] == ["Bridges", "Loads"]
    assert [heading.anchor for heading in content.headings] == ["top", "load"]
    assert [link.target for link in content.links] == ["arch.html", "#load", "deck.html"]


@pytest.mark.parametrize(
    "markup",
    [
        "<div class='table-contents'><table><tr><td><a href='a'>one</a><td><a href='b'>two</a></table></div>",
        "<div class='sidebar'><p>one is a longer text about something that matters, and it is not a menu but a remark, "
        "set beside the text; it goes on for some while, as such remarks do, up to two</p></div>",
        "<div role='note' class='navigation-not-searchable'>one <a href='x'>two</a></div>",
        "<ul><li><a href='a'>one</a></li><li><a href='b'>two</a></li></ul>",
        "<h2><a class='permalink' href='#x'>one</a></h2><p>two</p>",
        "<form>one <p>" + "and more words of the page " * 20 + "two</form>",
        "<blockquote>one<footer>two</footer></blockquote>",
        "<p>one</p><footer><p>two</p></footer>".replace("footer", "article"),
    ],
)
def test_what_only_looks_like_boilerplate_stays(markup: str) -> None:
    words = html_content(f"<body>{markup}</body>").text.replace("|", " ").replace("-", " ").split()
    assert (words[0], words[-1]) == ("one", "two")


def test_the_name_of_the_site_is_no_heading_of_the_page() -> None:
    steps = "<a class='previous_page' href='a'>&lt;-previous</a><a class='next_page' href='c'>next-&gt;</a>"
    page = html_content(
        f"<h1 id='header'><a href='https://example.org'>Mailer</a></h1><div>{steps}<h2>Proxies</h2><p>One.</p></div>"
    )
    assert page.text == "Proxies\n\nOne."
    kept = html_content("<h1 id='header'><a href='proxies.html'>Proxies</a></h1><p>See the <a href='b'>next</a>.</p>")
    assert kept.text == "Proxies\n\nSee the next."


def test_a_page_of_links_alone_is_kept_as_it_is() -> None:
    assert html_content(f"<ul>{LINKS}</ul>").text.count("Page") == 6


def test_code_keeps_its_lines_and_indentation() -> None:
    code = "def f(x):\n    if x:\n        return 1\n\n    return 2"
    assert html_content(f"<p>So:</p><pre>\n{code}\n</pre><p>Done.</p>").text == f"So:\n\n{code}\n\nDone."
    lines = "".join(f"<div class='line'>{line}</div>" for line in code.split("\n"))
    assert html_content(f"<div class='fragment'>{lines}</div>").text == code


def test_tables_keep_their_rows_and_layout_tables_their_paragraphs() -> None:
    table = "<table><tr><th>a</th><th></th><th><p>b</p><p>c</p></th></tr><tr><td>1<td>2</table>"
    assert html_content(table).text == "a | b c\n1 | 2"
    layout = "<table><tr><td><h2>Head</h2><p>One.</p><ul><li>x</ul></td></tr></table>"
    assert html_content(layout).text == "Head\n\nOne.\n\n- x"


def test_definitions_stay_with_their_headwords() -> None:
    content = html_content(
        "<dl><dt>arch<dd><p>A curve.</p><p>It is old.</p><dt>beam</dt><dt>girder</dt><dd>A bar.</dl>"
    )
    assert content.text == "arch\nA curve.\n\nIt is old.\n\nbeam\ngirder\nA bar."
    assert [heading.text for heading in content.headings] == ["arch", "beam", "girder"]
    assert html_content("<dl><dt>beam<dt>girder<dd>A bar.</dl>").text == "beam girder\nA bar."


@pytest.mark.parametrize(
    "unit",
    ["<ol><li>", "<dl><dt>a<dd>", "<a href='#'>", "<table><tr><td>", "<h1>", "<div class='nav'>", "<", "&amp", "<pre>"],
)
def test_hostile_markup_is_read(unit: str) -> None:
    html_content(unit * 5_000)
    html_content("<ol>" + "<li>item<a href='x'>y</a>" * 5_000)
