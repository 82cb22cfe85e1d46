"""Whether a fit trains on all rows at once or on sampled neighbourhoods."""

from glcn.estimator.variants import AUTO, Auto
from glcn.training import current_processes

WHOLE_UP_TO = 50_000  # rows
SEEDS = 1_024


def chosen_batch_size(batch_size: int | Auto | None, num_rows: int, *, all_pairs: bool) -> int | None:
    """Return the number of seeds of a step, or None for all rows at once; ``all_pairs`` are those not stored."""
    if isinstance(batch_size, int) and not isinstance(batch_size, bool) and batch_size > 1:
        if all_pairs:
            raise ValueError("all pairs of rows have no neighbourhoods to sample; leave batch_size at 'auto'")
        return batch_size
    if batch_size not in (AUTO, None):
        raise ValueError(f"batch_size must be a whole number from 2 on, None or 'auto', got {batch_size!r}")
    many = num_rows > WHOLE_UP_TO or current_processes().count > 1
    return SEEDS if batch_size == AUTO and many and not all_pairs else None
