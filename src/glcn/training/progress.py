"""A progress bar for training."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from glcn.training.loop import Progress


class ProgressBar:
    """A callback that draws epochs, loss and validation accuracy on the terminal, and tidies up afterwards."""

    def __init__(self, console: Console | None = None) -> None:
        self._bar = Bar(
            TextColumn("training"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[report]}"),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("training", total=None, report="")

    def __call__(self, progress: Progress) -> None:
        """Show one epoch."""
        report = f"loss {progress.loss:.3g}"
        if progress.validation_accuracy is not None:
            report += f" · validation {progress.validation_accuracy:.1%}"
        self._bar.update(self._task, completed=progress.epoch, total=progress.max_epochs, report=report)

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
