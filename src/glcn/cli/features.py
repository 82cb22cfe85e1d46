"""`glcn features`: images in, rows of features out."""

from pathlib import Path
from typing import Annotated

import typer

from glcn.cli.errors import told_plainly
from glcn.cli.progress import count_bar


def features(
    images: Annotated[
        Path,
        typer.Argument(
            help="Images: a folder of files (a file's folder is its class), or an .npz file with arrays x and y."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .npz file to write.")],
    size: Annotated[int, typer.Option(help="Side that images are resized to.")] = 160,
    batch_size: Annotated[int, typer.Option(help="Images at a time; memory grows with it.")] = 64,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Describe images by EfficientNet-Lite0; after a stop the same command goes on where it was."""
    with told_plainly(debug):
        from glcn.datasets import describe_images

        if out.exists() and not force:
            raise FileExistsError(f"{out} exists already; choose another --out, or pass --force")
        with count_bar("images") as report:
            describe_images(images, out, size=size, batch_size=batch_size, report=report)
        typer.echo(out)
