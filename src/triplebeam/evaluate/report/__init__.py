"""An evaluation as a page a person can read: Markdown, or one HTML file that needs nothing beside it."""

from triplebeam.evaluate.report.html import html_report
from triplebeam.evaluate.report.markdown import markdown_report

__all__ = ["html_report", "markdown_report"]
