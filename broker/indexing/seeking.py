"""Starting an indexer that answers one search of a command, and builds no index.

Little is imported here, since the command waits for it: the indexer loads while the command imports what takes its
answer (broker/indexing/seeker_answer.py).
"""

import subprocess
from typing import NamedTuple, TypeGuard

from msgspec.structs import replace

from fledgling.broker.indexing.files import Files, TakenOver
from fledgling.broker.indexing.ordering import opened, ordered, started
from fledgling.messages.control import Build, Confining
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, Search
from fledgling.settings import Settings


class Seeker(NamedTuple):
    """An indexer that has not been told its order, and the memory files that it may fill."""

    order: Build
    files: Files
    process: "subprocess.Popen[bytes]"


def may_need_no_index(question: AnyQuestion, profile: Profile) -> TypeGuard[Search]:
    """Return whether a question is a first page of lines, under a profile without views."""
    if not isinstance(question, Search) or profile.views:
        return False
    return not (question.is_ranked or question.kind or question.has_tags or question.cursor)


def start_seeker(settings: Settings, profile: Profile, question: Search, confining: Confining) -> Seeker:
    """Start an indexer. Raises IndexingError where the root cannot be opened, and OSError where there is no room."""
    root, root_fd = opened(settings.root)
    files = Files.created(is_followed=False)
    order = replace(ordered(settings, profile, confining, files.images, root, root_fd), sought=question)
    return Seeker(order, files, started(root_fd, files, TakenOver()))
