"""An evaluation as a page a person can read: Markdown, or one self-contained HTML file."""

from triplebeam_research.report.render import html_report, markdown_report

__all__ = ["html_report", "markdown_report"]
