"""Made-up tables and graphs for tests, and the count of what was said of them."""

import csv
import io
import re
from collections import Counter

from hypothesis import HealthCheck
from hypothesis import strategies as st

QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "database": None}
MESSAGES: Counter[str] = Counter()  # of one test; where it is used, a fixture clears it and reports it at last
CASES: Counter[str] = Counter()

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
numbers = st.one_of(
    st.floats(allow_nan=False, width=32).map(repr),
    st.floats().map(repr),
    st.integers(-3, 3).map(str),
    st.sampled_from(["1e308", "-1e308", "5e-324", "1e400", "007", "1_000", " 4 "]),
)
dates = st.dates().map(str) | st.sampled_from(["0001-01-01", "9999-12-31", "2020-02-30", "1.2.2020", "31/12/1999"])
holes = st.sampled_from(["", "NA", "nan", "inf", "?", " "])
KINDS = {
    "numbers": numbers,
    "numbers and holes": numbers | holes,
    "few": st.sampled_from(["red", "blue", "True", "1"]),
    "few and holes": st.sampled_from(["red", "=blue()", "[x]"]) | holes,
    "words": words,
    "dates": dates,
    "dates and holes": st.dates().map(str) | holes,
    "constant": st.just("5"),
    "empty": st.just(""),
    "anything": numbers | words | dates | holes,
}
labels = st.one_of(
    st.sampled_from(["a", "b", ""]),
    st.sampled_from(["0", "1", "-1"]),
    st.sampled_from(["1", "1.0", "x", "", " x", "é"]),
    st.just("only"),
)


@st.composite
def tables(draw):
    """Return the bytes of a CSV file with a column ``y``."""
    n = draw(st.integers(5, 14))
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=4))
    titles = [f"{draw(words)}{place}" for place in range(len(kinds))]
    if draw(st.integers(0, 9)) == 0:
        titles[-1] = draw(st.sampled_from([titles[0], "", "y"]))
    some = draw(st.sampled_from([labels, words, numbers]))
    one_kind = draw(st.sampled_from([some, st.sampled_from(["a", "b", ""]), st.sampled_from(["a", "b", ""])]))
    columns = [draw(st.lists(KINDS[kind], min_size=n, max_size=n)) for kind in kinds]
    columns.append(draw(st.lists(one_kind, min_size=n, max_size=n)))
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=draw(st.sampled_from(",,,;\t")), quoting=draw(st.sampled_from([0, 1])))
    writer.writerow([*titles, "y"])
    writer.writerows(zip(*columns, strict=True))
    return file.getvalue().encode()


@st.composite
def edge_files(draw, names):
    end = st.sampled_from(names)
    weights = st.floats(0, 1e30).map(repr) | st.sampled_from(["1", "0", "1e-40"])
    if draw(st.booleans()):
        end |= st.just("nobody")
        weights |= st.sampled_from(["-1", "nan", "x", "", "1e39"])
    width = draw(st.integers(1, 4)) if draw(st.integers(0, 9)) == 0 else draw(st.integers(2, 3))
    lines = draw(st.lists(st.tuples(end, end, weights, weights), max_size=25))
    header = [["from", "to", "weight", "more"][:width]] if draw(st.booleans()) else []
    return "\n".join(",".join(line[:width]) for line in [*header, *lines]).encode()


def told(error):
    """Note an error, and look whether it is one short sentence."""
    text = str(error)
    assert 10 < len(text) < 700, text
    assert "Traceback" not in text
    MESSAGES[re.sub(r"'.*'|\d+|: .*", "…", text)] += 1


NAMES = [f"n{row}" for row in range(9)]
broken = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    st.text('ab1,;\n"\t', max_size=40).map(str.encode),
    st.tuples(tables(), st.integers(0, 500), st.binary(max_size=3)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] :]
    ),
)
