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
    kind: Annotated[str, typer.Option(help="Which features: efficientnet_lite0 or hog.")] = "efficientnet_lite0",
    size: Annotated[
        int | None, typer.Option(help="Side that images are resized to.", show_default="160; 32 for hog")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Images at a time; memory grows with it.")] = 64,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")] = False,
) -> None:
    """Describe images by rows of features; after a stop the same command goes on where it was."""
    with told_plainly(debug, "stopped; run the same command again to go on from here"):
        from glcn.datasets import describe_images

        if out.exists() and not force:
            raise FileExistsError(f"{out} exists already; choose another --out, or pass --force")
        with count_bar("images") as report:
            side = size or (32 if kind == "hog" else 160)
            describe_images(images, out, backbone=kind, size=side, batch_size=batch_size, report=report)  # type: ignore[arg-type]
        typer.echo(out)
