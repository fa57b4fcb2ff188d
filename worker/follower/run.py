"""A follower from its start to its end: confine, then look whenever the broker asks. It meets hostile files."""

import os
import time
from collections.abc import Iterator

from fledgling import project_file, refusals
from fledgling.messages.following import (
    AskChanged,
    AskRefs,
    Follow,
    Following,
    FromFollower,
    Look,
    Looked,
    Sweep,
    Swept,
    ToFollower,
)
from fledgling.pipe import Pipe
from fledgling.security import memory_file
from fledgling.security.confinement import ConfinementError
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.files import refs
from fledgling.worker.files.openat import open_directory
from fledgling.worker.follower.differences import Differences
from fledgling.worker.language import Languages
from fledgling.worker.lister.process import confined, narrowed
from fledgling.worker.resolving.resolve import load_resolvers
from fledgling.worker.store.kept import Kept
from fledgling.worker.store.text import Blocks


def follow(pipe: Pipe[ToFollower], order: Follow, languages: Languages, extractors: Extractors) -> None:
    """Answer until the broker closes the pipe. What the index has left is mapped before, and read once confined."""
    load_resolvers(languages)
    project_file.load()
    text, kept = memory_file.mapped(order.text_fd), memory_file.mapped(order.kept_fd)
    try:
        layers = confined(order, order.broker_pid)
        extractor_layers = extractors.confined()
    except ConfinementError as absent:
        pipe.send(refusals.not_confined(str(absent)))
        return
    os.close(order.text_fd)
    os.close(order.kept_fd)
    pipe.send(Following(layers, extractor_layers))
    differences: Differences | None = None
    while (asked := pipe.receive()) is not None:
        begun = time.process_time()
        if isinstance(asked, Follow):
            break
        if isinstance(asked, AskRefs):
            pipe.send(refs.look(order.root_fd, asked))
            continue
        if isinstance(asked, Sweep) and not has_root(order.root_fd):
            generation = differences.generation if differences else order.generation + order.is_next
            pipe.send(Swept(generation, time.process_time() - begun, obstacle="no root"))
            continue
        if differences is None:
            differences = Differences(order, Blocks(text), Kept(kept), languages, extractors)
        for said in answered(differences, order, asked, begun):
            pipe.send(said)


def answered(
    differences: Differences, order: Follow, asked: Sweep | Look | AskChanged, begun: float
) -> Iterator[FromFollower]:
    """Yield what is to be said to a message that came when this process had taken `begun` seconds."""
    match asked:
        case Look(paths):
            yield Looked(differences.are_current(paths))
        case AskChanged(since):
            yield differences.changed(since)
        case Sweep() if not has_same_settings(order):
            yield Swept(differences.generation, time.process_time() - begun, obstacle="other settings")
        case Sweep(since):
            differences.look()
            yield from differences.since(since)
            yield differences.swept(time.process_time() - begun)


def has_root(root_fd: int) -> bool:
    """Return whether the root is there and can be read; of one that is not, its own settings are not known either."""
    status = os.fstat(root_fd)
    try:
        os.close(open_directory(b".", root_fd, status.st_dev))
    except OSError:
        return False
    return status.st_nlink > 0


def has_same_settings(order: Follow) -> bool:
    """Return whether the project's own file still narrows the scope to what the index was built with."""
    return narrowed(order.asked, order.root_fd).scope == order.scope
