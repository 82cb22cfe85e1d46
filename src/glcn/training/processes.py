"""The processes that train one network together: those that torchrun started, or just this one."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous
from torch.nn import Module
from torch.nn.parallel import DistributedDataParallel

T = TypeVar("T")
PATIENCE = timedelta(hours=2)  # how long a process waits for the others


@dataclass(frozen=True)
class Processes:
    """The place of one process among all of them."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this one writes files and talks to people."""
        return self.rank == 0

    def join(self, model: Any) -> Any:
        """Return the model with the gradients of its backward passes averaged over all processes."""
        return model if self.count == 1 else DistributedDataParallel(model)

    def apart(self, model: Any) -> AbstractContextManager[None]:
        """Keep the gradients of a joined model to this process for a while; they add up."""
        return nullcontext() if self.count == 1 else model.no_sync()

    def average_gradients(self, module: Module) -> None:
        """Average the gradients of a module that was not joined."""
        for parameter in module.parameters():
            if self.count > 1 and parameter.grad is not None:
                self.total(parameter.grad).div_(self.count)

    def agree(self, choose: Callable[[], T]) -> T:
        """Return what the first process chooses, in all of them."""
        if self.count == 1:
            return choose()
        choice = [choose() if self.is_first else None]
        distributed.broadcast_object_list(choice, src=0)
        return cast(T, choice[0])

    def total(self, values: Tensor) -> Tensor:
        """Add up the values of all processes."""
        if self.count > 1:
            distributed.all_reduce(values)
        return values


def current_processes() -> Processes:
    """Return this process's place among those that train together."""
    if distributed.is_available() and distributed.is_initialized():
        return Processes(distributed.get_rank(), distributed.get_world_size())
    return Processes()


@contextmanager
def as_torchrun_says() -> Iterator[Processes]:
    """Join the other processes where torchrun started this one: by gloo on CPUs, by nccl on GPUs."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        yield Processes()
        return
    # Under a name of its own for each start: torch 2.13 finds the addresses of lost processes again otherwise.
    store, rank, count = next(rendezvous("env://", timeout=PATIENCE))
    store = distributed.PrefixStore(f"start-{_restarts()}", store)  # type: ignore[attr-defined]
    distributed.init_process_group(store=store, rank=rank, world_size=count, timeout=PATIENCE)
    try:
        yield current_processes()
    finally:
        distributed.destroy_process_group()


def restarted() -> bool:
    """Whether torchrun started this process again, after one was lost."""
    return _restarts() > 0


def _restarts() -> int:
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
