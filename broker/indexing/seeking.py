"""One search of a command, before it is put to an indexer: what is loaded here is waited for, and is little.

The indexer is started first, and loads beside all that hears it (broker/indexing/sought.py).
"""

import subprocess
from typing import NamedTuple, TypeGuard

from msgspec.structs import replace

from fledgling.broker.indexing.files import Files
from fledgling.broker.indexing.ordering import INDEXER, opened, ordered
from fledgling.broker.spawn import spawn
from fledgling.config import Settings
from fledgling.messages.control import Build, Confining
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Search


class Spawned(NamedTuple):
    """An indexer that has not been told its order, and the memory files that it may fill."""

    order: Build
    files: Files
    process: "subprocess.Popen[bytes]"


def is_sought(question: AnyQuestion, profile: Profile) -> TypeGuard[Search]:
    """Return whether a question is a first page of lines, under a profile without views: it may need no index."""
    if not isinstance(question, Search) or profile.views:
        return False
    return not (question.is_ranked or question.kind or question.has_tags or question.cursor)


def spawned(settings: Settings, profile: Profile, question: Search, confining: Confining) -> Spawned:
    """Start an indexer. Raises IndexingError where the root cannot be opened, or OSError; the command ends then."""
    root, root_fd = opened(settings.root)
    files = Files.created(is_followed=False)
    order = replace(ordered(settings, profile, confining, files.images, root, root_fd), sought=question)
    return Spawned(order, files, spawn(INDEXER, [root_fd, *files.all()]))
