"""Which rules hold in a directory: those around it, and what its own `.git` and `.gitignore` say."""

import os
from collections.abc import Mapping

from fledgling.worker.files import repository
from fledgling.worker.files.display_name import shown
from fledgling.worker.files.ignore import MAX_FILE, Rules
from fledgling.worker.files.openat import read_file
from fledgling.worker.process import fault


class RuleFiles:
    """The files of one tree that say what else is listed in it; `notices` say which of their rules are not used."""

    def __init__(self, device: int, *, enters_repositories: bool) -> None:
        self._device = device
        self._enters_repositories = enters_repositories
        self.notices: list[str] = []

    def taken(self, path: bytes, fd: int, rules: Rules, found: Mapping[str, os.DirEntry[str]]) -> Rules | None:
        """Return the rules of an open directory with these names in it, below others; None if it is left out as nested.

        Raises what a fault of ours raises: only the root is listed by what can be used of its rules.
        """
        if ".git" in found and not rules.tracked.reaches_into(path[rules.base : -1]):
            nested = repository.read(found[".git"], fd, self._device)
            if nested and rules.in_repository and not self._enters_repositories:
                return None
            if nested:
                rules = self._of_repository(path, nested)
        if ".gitignore" in found and found[".gitignore"].is_file(follow_symlinks=False):
            try:
                return self._with(rules, path, read_file(b".gitignore", fd, self._device, MAX_FILE), ".gitignore")
            except OSError as error:
                self.notices.append(f"{shown(path)}.gitignore cannot be read: {error.strerror}.")
            except Exception as problem:
                if path:  # it is left out whole
                    raise
                fault.survived(problem)
                return self._with_what_can_be(rules, fd)
        return rules

    def _of_repository(self, path: bytes, found: repository.Repository) -> Rules:
        """Return the rules of a repository: from here on they hold, and no others."""
        rules = Rules(len(path), in_repository=True, tracked=found.tracked)
        rules = self._with(rules, path, found.exclude, ".git/info/exclude")
        if found.problem:
            where = shown(path) or "the root"
            self.notices.append(f"Tracked files below {where} are left out where they are ignored: {found.problem}.")
        return rules

    def _with(self, rules: Rules, path: bytes, data: bytes, name: str) -> Rules:
        """Return rules with the lines of a file in a directory."""
        more, is_complete = rules.with_file(data, len(path))
        if not is_complete:
            self.notices.append(f"{shown(path)}{name} is over a limit: some of its rules were not used.")
        return more

    def _with_what_can_be(self, rules: Rules, root_fd: int) -> Rules:
        """Return rules with the lines of the root's `.gitignore` in which no fault of ours is met."""
        self.notices.append("Rules of .gitignore are not used in which the server has met a fault of its own.")
        data = read_file(b".gitignore", root_fd, self._device, MAX_FILE)
        try:
            sound = b"\n".join([line for line in data[:MAX_FILE].split(b"\n") if _is_sound(line)])
            return self._with(rules, b"", sound, ".gitignore")
        except Exception as problem:  # noqa: BLE001  (it is none of one line)
            fault.survived(problem)
        return rules


def _is_sound(line: bytes) -> bool:
    """Return whether no fault of ours is met in a line of an ignore file."""
    try:
        Rules().with_file(line, 0)
    except Exception as problem:
        if isinstance(problem, MemoryError):
            raise
        return False
    return True
