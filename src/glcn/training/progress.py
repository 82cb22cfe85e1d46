"""A progress bar for training."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from glcn.training.loop import Progress


class ProgressBar:
    """A callback that draws epochs, loss and validation accuracy on the terminal, and tidies up afterwards.

    :meth:`answering` shows how far the answer for all rows is, which follows.
    """

    def __init__(self, console: Console | None = None, *, title: str = "training") -> None:
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TextColumn("{task.fields[report]}"),
            TimeRemainingColumn(compact=True),  # at most: it may stop early
            TextColumn("left"),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None, report="")

    def __call__(self, progress: Progress) -> None:
        """Show one epoch."""
        report = f"loss {progress.loss:.3g}"
        if progress.validation_accuracy is not None:
            report += f" · validation {progress.validation_accuracy:.1%}"
        self._bar.update(self._task, completed=progress.epoch, total=progress.max_epochs, report=report)

    def answering(self, done: int, total: int) -> None:
        """Show how many rows of all passes over the graph are done."""
        share = f"{done / total:.0%}"
        self._bar.update(self._task, description="answering", completed=done, total=total, report=share)

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
