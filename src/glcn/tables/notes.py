"""What was guessed and done, in sentences; columns with the same story share one."""

MOST_NAMES = 4


class Notes:
    """Collects what is to be said of columns, in the order in which it came up."""

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {}

    def add(self, column: str, what: str) -> None:
        """Say something of a column."""
        self._columns.setdefault(what, []).append(column)

    def extend(self, other: "Notes") -> None:
        """Add all that another collection says."""
        for what, names in other._columns.items():
            for name in names:
                self.add(name, what)

    def sentences(self) -> list[str]:
        """Return a sentence for each thing that was said."""
        return [f"{listed(names)}: {what}." for what, names in self._columns.items()]


def listed(names: list[str], most: int = MOST_NAMES) -> str:
    """Return the first names, and how many there are besides."""
    rest = len(names) - most
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:most])} and {rest} more"
