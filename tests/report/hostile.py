"""Names that a careless page would run, and the command line as one call."""

from typer.testing import CliRunner

from glcn.cli import app

BAD_CLASS = "<script>window.hacked = 1</script>"
BAD_ID = "<img src=x onerror='window.hacked = 1'>"
BAD_COLUMN = "<b onclick=alert(1)>width</b>"
FORMULA_ID = '=1+"a",2'


def command(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result


def refused(*words):
    """Return what a command says that ends with a mistake."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())
