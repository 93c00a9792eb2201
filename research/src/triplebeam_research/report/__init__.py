"""An evaluation as a report a person can read: Markdown with its plots, or one self-contained HTML file."""

from triplebeam_research.report.render import Report, write_report

__all__ = ["Report", "write_report"]
