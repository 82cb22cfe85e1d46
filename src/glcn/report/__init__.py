"""A page for every run: what was learned, to be looked at."""

from glcn.report.page import write_report

__all__ = ["write_report"]
