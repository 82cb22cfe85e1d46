"""Training on parts of the graph, one neighbourhood a step."""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from glcn.graph import NeighborSampler
from glcn.training.loop import TrainingData

FANOUTS = (10, 5)  # neighbours drawn of each seed, and of each of those
_VALIDATION = 1 << 40  # draws of validation rows are numbered from here, so that they are the same each time


class SampledNeighborhoods:
    """A source of batches for :func:`glcn.training.train`: each step sees a neighbourhood in place of all rows.

    The seeds of a step are labelled rows, at most half of the batch, and random other rows, on which passes have to
    agree and edges are learned. Labelled rows take turns: in as many steps as it takes, each is a seed once.
    """

    def __init__(self, data: TrainingData, batch_size: int, seed: int, device: torch.device | str = "cpu") -> None:
        if data.prior is not None:
            raise ValueError("a prior can not be used with batches; leave prior_weight at 0, or set batch_size=None")
        self.data = data
        self.device = device  # of the parts; the whole stays where it is
        self.batch_size = batch_size
        self.seed = seed
        self.sampler = NeighborSampler(data.graph, FANOUTS)
        self._train = data.train_rows.numpy()
        self._labelled = min(len(self._train), max(1, batch_size // 2))

    @staticmethod
    def most_rows(batch_size: int) -> int:
        """Return how many rows a step sees at most."""
        return batch_size * sum(math.prod(FANOUTS[:hops]) for hops in range(len(FANOUTS) + 1))

    @cached_property
    def steps_per_pass(self) -> int:
        """Steps until every labelled row was a seed."""
        return -(-len(self._train) // self._labelled)

    def batch(self, step: int) -> TrainingData:
        """Return what a step sees."""
        turn, place = divmod(step, self.steps_per_pass)
        order = np.random.default_rng((self.seed, turn)).permutation(self._train)
        labelled = order[place * self._labelled : (place + 1) * self._labelled]
        n = self.data.graph.num_nodes
        others = np.random.default_rng((self.seed, turn, place)).integers(
            n, size=max(0, self.batch_size - len(labelled))
        )
        others = np.setdiff1d(others, labelled)
        return self._part(np.concatenate([labelled, others]), step, train=len(labelled))

    def judged(self, step: int) -> Iterator[TrainingData]:
        """Go through the validation rows, some at a time, where it is time to look at them."""
        if step % self.steps_per_pass:
            return
        rows = self.data.validation_rows.numpy()
        for number, start in enumerate(range(0, len(rows), self.batch_size)):
            part = rows[start : start + self.batch_size]
            yield self._part(part, _VALIDATION + number, validation=len(part))

    def _part(self, seeds: NDArray[np.int64], number: int, *, train: int = 0, validation: int = 0) -> TrainingData:
        nodes, graph = self.sampler.draw(seeds, number)
        rows = torch.from_numpy(nodes)
        part = TrainingData(
            x=self.data.x[rows],
            graph=graph,
            targets=self.data.targets[rows],
            train_rows=torch.arange(train),
            validation_rows=torch.arange(validation),
            class_weight=self.data.class_weight,
        )
        return part.to(self.device)

    def to(self, device: torch.device | str) -> "SampledNeighborhoods":
        """Return the source with its parts on another device."""
        return SampledNeighborhoods(self.data, self.batch_size, self.seed, device)
