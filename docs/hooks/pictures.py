"""Pictures are put into the page itself, so that they have the page's colours, light or dark.

A picture that a page only links to is a document of its own and knows nothing of the theme: `currentColor` would be
black. Read elsewhere than on the site, the same Markdown still shows it, in the colour that the picture names.
"""

import re
from html import escape
from pathlib import Path
from typing import Any

_IMAGE = re.compile(r'<p><img alt="(?P<alt>[^"]*)" src="[^"]*images/(?P<name>[\w-]+\.svg)" ?/?></p>')


def on_page_content(html: str, config: Any, **_: object) -> str:
    """Replace each picture by its drawing, with its words for those who cannot see it."""
    folder = Path(config["docs_dir"]) / "images"

    def drawn(image: re.Match[str]) -> str:
        svg = (folder / image["name"]).read_text(encoding="utf-8")
        label = escape(image["alt"], quote=True)
        named = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        return f'<figure class="drawing">{named}</figure>'

    return _IMAGE.sub(drawn, html)
