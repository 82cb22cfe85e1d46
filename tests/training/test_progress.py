import io

from rich.console import Console

from glcn.training import Progress, ProgressBar


def test_bar_shows_epoch_loss_and_accuracy():
    out = io.StringIO()
    with ProgressBar(Console(file=out, force_terminal=True, width=80)) as bar:
        bar(Progress(30, 200, 1.234, 1.5, 0.81))
    text = out.getvalue()
    assert "30/200" in text
    assert "loss 1.23" in text
    assert "validation 81.0%" in text
    assert "left" in text


def test_bar_shows_how_far_the_answer_is():
    out = io.StringIO()
    with ProgressBar(Console(file=out, force_terminal=True, width=80)) as bar:
        bar(Progress(200, 200, 1.234, 1.5, 0.81))
        bar.answering(500, 2000)
    text = out.getvalue()
    assert "answering" in text
    assert "25%" in text
