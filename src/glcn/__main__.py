"""Run the command line by ``python -m glcn``."""

from glcn.cli import app

app()
