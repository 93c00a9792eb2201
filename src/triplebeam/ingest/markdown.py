"""Markdown to plain text: rendered to HTML by GitHub's own parser, which is linear in whatever it is given."""

from triplebeam.ingest.front_matter import front_matter
from triplebeam.ingest.html import html_content
from triplebeam.ingest.text import Content


def markdown_content(source: str) -> Content:
    """Read Markdown. The title is the first heading, else the front matter's; other fields of that are metadata."""
    fields, body, warnings = front_matter(source)
    content = html_content(rendered(body), code_mark="`")
    title = content.headings[0].text if content.headings else fields.get("title", "")
    metadata = {name: text for name, text in fields.items() if name != "title"}
    return content._replace(title=title, metadata=metadata, warnings=warnings)


def rendered(source: str) -> str:
    """Markdown as HTML, with tables and footnotes."""
    from cmarkgfm import github_flavored_markdown_to_html
    from cmarkgfm.cmark import Options

    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    return str(github_flavored_markdown_to_html(source, options))
