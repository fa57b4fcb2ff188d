"""What runs the builds of many repositories: this machine, or an engine that a team runs already.

Each is used through `submit` and `as_completed` in the shape of concurrent.futures. An engine places a process of ours
and hears how it ended; confinement, limits and what is written are those of that process, wherever it runs. Dask and
Ray are imported where one is asked for, and by no other command.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, NamedTuple

EngineName = Literal["local", "dask", "ray"]
TASK_SECONDS = 3600.0  # for one repository: a build has 1,800 s, twice where it dies
TRIES = 3  # of a command that was killed: by the machine for want of memory, as a rule
MAX_SAID = 2**16  # bytes of what a command says

Ended = tuple[int, str, str]  # exit status, negative for a signal; standard output; standard error


class Runner(NamedTuple):
    """Where commands run: `submit` begins one, `as_completed` yields what was submitted, whoever is done first."""

    submit: Callable[[Sequence[str]], Any]
    as_completed: Callable[[Iterable[Any]], Iterator[Any]]


class EngineMissingError(Exception):
    """An engine is asked for that cannot be used here, and why."""


def run(arguments: Sequence[str]) -> Ended:
    """Run `fleet shard` to its end. This is what an engine is given, perhaps on another machine.

    The command ends when this process does, though that be before it knows who has started it.
    """
    ended: Ended = (1, "", "")
    for _ in range(TRIES):
        ended = _run(arguments)
        if ended[0] >= 0:
            break
    return ended


def _run(arguments: Sequence[str]) -> Ended:
    command = ["fleet", "shard", "--parent", str(os.getpid()), *arguments]
    started = [sys.executable, "-I", "-B", "-m", "fledgling", *command]
    try:
        done = subprocess.run(
            started, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=TASK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return 1, "", f"it was not done after {TASK_SECONDS:g} s"
    said, complained = (text[-MAX_SAID:].decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return done.returncode, said, complained


@contextmanager
def local(workers: int, address: str | None) -> Iterator[Runner]:
    """Run so many commands at once on this machine."""
    if address:
        raise EngineMissingError("the engine local has no address")
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield Runner(lambda arguments: pool.submit(run, arguments), as_completed)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def dask(workers: int, address: str | None) -> Iterator[Runner]:
    """Run on a Dask cluster: that of a scheduler's address, or one of so many processes on this machine."""
    try:
        import distributed  # noqa: PLC0415  (an extra)
    except ImportError:
        raise EngineMissingError("Dask is not installed: pip install 'fledgling-lens[fleet]'") from None
    logging.getLogger("distributed").setLevel(logging.WARNING)
    here = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
    connect: Callable[..., Any] = distributed.Client
    with connect(**{"address": address} if address else here) as client:
        yield Runner(lambda arguments: client.submit(run, list(arguments), pure=False), distributed.as_completed)


@contextmanager
def ray(workers: int, address: str | None) -> Iterator[Runner]:
    """Run on a Ray cluster: that of an address, or one of so many processes on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it tells its makers otherwise
    try:
        import ray as engine  # noqa: PLC0415  (an extra)
    except ImportError:
        raise EngineMissingError("Ray is not installed: pip install 'fledgling-lens[ray]'") from None
    here = {"num_cpus": workers, "include_dashboard": False}
    engine.init(log_to_driver=False, **{"address": address} if address else here)
    try:
        task = engine.remote(run)
        yield Runner(lambda arguments: task.remote(list(arguments)).future(), as_completed)
    finally:
        engine.shutdown()


ENGINES: dict[EngineName, Callable[[int, str | None], AbstractContextManager[Runner]]] = {
    "local": local,
    "dask": dask,
    "ray": ray,
}
