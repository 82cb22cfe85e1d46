"""The processes that train one network together: those that torchrun started, or just this one."""

import importlib
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous
from torch.nn import Module
from torch.nn.parallel import DistributedDataParallel

T = TypeVar("T")
PATIENCE = timedelta(hours=2)  # how long a process waits for the others
GREETINGS = 0.02  # seconds between two looks at who has come


@dataclass(frozen=True)
class Processes:
    """The place of one process among all of them."""

    rank: int = 0
    count: int = 1
    restarted: bool = False  # whether torchrun started them again, after one was lost

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
    # Its functions take the group at the time of their import for a default. Imported later, as by joining a model,
    # they would keep this one past its end, and threads of gloo that outlive the interpreter abort the process.
    importlib.import_module("torch.distributed.nn.functional")
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    store, rank, count = next(rendezvous("env://", timeout=PATIENCE))
    store = fresh_part(store, rank, count)
    distributed.init_process_group(store=store, rank=rank, world_size=count, timeout=PATIENCE)
    try:
        place = current_processes()
        # Each machine counts its own restarts: a process may be started again and read that it was not.
        restarts = place.total(torch.tensor(int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))))
        yield Processes(place.rank, place.count, restarted=bool(restarts))
    finally:
        distributed.destroy_process_group()


def fresh_part(store: Any, rank: int, count: int) -> Any:
    """Return a part of the processes' common store that no earlier start has used, the same one in all of them.

    One store may serve several starts, and would give a process the addresses of lost ones. So the first process makes
    up a name, and tells it to each that asks under a name of its own; what a lost process asked or heard is nobody's.
    """
    own = uuid.uuid4().hex
    if rank == 0:
        _tell_all(store, own, count)
        name = own
    else:
        store.set(f"ask/{rank}", own)
        store.wait([f"answer/{own}"], PATIENCE)
        name = store.get(f"answer/{own}").decode()
        store.set(f"heard/{name}/{rank}", "")
    return distributed.PrefixStore(name, store)  # type: ignore[attr-defined]


def _tell_all(store: Any, name: str, count: int) -> None:
    waiting, until = set(range(1, count)), time.monotonic() + PATIENCE.total_seconds()
    told: dict[int, str] = {}
    while waiting and time.monotonic() < until:
        for other in sorted(waiting):
            if store.check([f"heard/{name}/{other}"]):
                waiting.remove(other)
            elif store.check([f"ask/{other}"]) and (asked := store.get(f"ask/{other}").decode()) != told.get(other):
                store.set(f"answer/{asked}", name)
                told[other] = asked
        time.sleep(GREETINGS)
    if waiting:
        raise TimeoutError(f"processes {', '.join(map(str, sorted(waiting)))} did not come within {PATIENCE}")
