"""Training on parts of the graph, some neighbourhoods a step."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.graph import NeighborSampler
from glcn.training.data import TrainingData
from glcn.training.processes import current_processes

FANOUTS = (10, 5)  # neighbours drawn of each seed, and of each of those
_VALIDATION = 1 << 40  # draws of validation rows are numbered from here, so that they are the same each time


class SampledNeighborhoods:
    """A source of batches for :func:`glcn.training.train`: a step sees neighbourhoods in place of all rows.

    The seeds of a step are labelled rows, at most half of them, and random other rows, on which passes have to
    agree and edges are learned. Labelled rows take turns: in as many steps as it takes, each is a seed once. The seeds
    are dealt out to shares, each with a neighbourhood of its own, and these to the processes that train together: what
    is learned depends on the number of shares, not on that of the processes.

    Parameters
    ----------
    data
        All rows.
    batch_size
        Seeds of a step.
    seed
        Of everything random, also inside the network.
    shares
        Parts that a step is cut into; None is one for each process.
    """

    def __init__(
        self,
        data: TrainingData,
        batch_size: int,
        seed: int,
        *,
        shares: int | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if data.prior is not None:
            raise ValueError("a prior can not be used with batches; leave prior_weight at 0, or set batch_size=None")
        self.processes = current_processes()
        self.data = data
        self.device = device  # of the parts; the whole stays where it is
        self.batch_size = batch_size
        self.seed = seed
        self.shares = self.processes.count if shares is None else shares
        if self.shares % self.processes.count or self.shares > batch_size:
            raise ValueError(
                f"batch_shares must be a multiple of the number of processes ({self.processes.count}) and at most the "
                f"seeds of a step ({batch_size}), got {self.shares}"
            )
        self.sampler = NeighborSampler(data.graph, FANOUTS)
        self._train = data.train_rows.numpy()
        self._labelled = min(len(self._train), max(self.shares, batch_size // 2))
        if len(self._train) < self.shares:
            raise ValueError(f"{len(self._train)} labelled rows can not be shared out to {self.shares}; take fewer")

    @staticmethod
    def most_rows(batch_size: int) -> int:
        """Return how many rows a step sees at most."""
        return batch_size * sum(math.prod(FANOUTS[:hops]) for hops in range(len(FANOUTS) + 1))

    @property
    def steps_per_pass(self) -> int:
        """Steps until every labelled row was a seed."""
        return max(1, len(self._train) // self._labelled)

    def batches(self, step: int) -> Sequence[TrainingData]:
        """Return what this process sees of a step."""
        turn, place = divmod(step, self.steps_per_pass)
        order = np.random.default_rng((self.seed, turn)).permutation(self._train)
        labelled = np.array_split(order, self.steps_per_pass)[place]
        number = max(0, self.batch_size - len(labelled))
        others = np.random.default_rng((self.seed, turn, place)).integers(self.data.graph.num_nodes, size=number)
        others = np.setdiff1d(others, labelled)
        np.random.default_rng((self.seed, turn, place, 1)).shuffle(others)
        mine = range(self.processes.rank, self.shares, self.processes.count)
        return [
            self._share(step, share, labelled[share :: self.shares], others[share :: self.shares]) for share in mine
        ]

    def _share(self, step: int, share: int, labelled: NDArray[np.int64], others: NDArray[np.int64]) -> TrainingData:
        number = step * self.shares + share
        noise = int(np.random.SeedSequence((self.seed, number)).generate_state(1, np.uint64)[0] >> np.uint64(1))
        return self._part(np.concatenate([labelled, others]), number, train=len(labelled), noise=noise)

    def judged(self, step: int) -> Iterator[TrainingData] | None:
        """Go through this process's validation rows, some at a time, where it is time to look at them."""
        return None if step % self.steps_per_pass else self._judged()

    def _judged(self) -> Iterator[TrainingData]:
        rows = self.data.validation_rows.numpy()
        starts = range(0, len(rows), self.batch_size)
        for number in range(self.processes.rank, len(starts), self.processes.count):
            part = rows[starts[number] : starts[number] + self.batch_size]
            yield self._part(part, _VALIDATION + number, validation=len(part))

    def _part(
        self, seeds: NDArray[np.int64], number: int, *, train: int = 0, validation: int = 0, noise: int | None = None
    ) -> TrainingData:
        nodes, graph = self.sampler.draw(seeds, number)
        rows = torch.from_numpy(nodes)
        part = TrainingData(
            x=self.data.x[rows],
            graph=graph,
            targets=self.data.targets[rows],
            train_rows=torch.arange(train),
            validation_rows=torch.arange(validation),
            class_weight=self.data.class_weight,
            noise=noise,
        )
        return part.to(self.device)

    def to(self, device: torch.device | str) -> "SampledNeighborhoods":
        """Return the source with its parts on another device."""
        return SampledNeighborhoods(self.data, self.batch_size, self.seed, shares=self.shares, device=device)
