"""Which names the ignore rules leave out: everything that decides which rules hold where lives here.

The order is git's: the `.gitignore` nearest to a name speaks first, then those above it up to the root of its
repository, and last `.git/info/exclude`. What is tracked stays in, whatever they say. A user's global ignore file is
outside the root and is not read; neither is a repository's configuration, so matching always minds the case.
"""

from msgspec import Struct
from msgspec.structs import replace

from fledgling.gitignore import Patterns, compile_patterns
from fledgling.worker.files.git_index import NOTHING, Tracked

MAX_FILE = 64 * 1024  # bytes of one ignore file that count; the largest published templates hold some 8 KB
MAX_IN_FORCE = 4 * MAX_FILE  # bytes of all ignore files above one name, which is matched against each of them


class IgnoreLayer(Struct, frozen=True):
    """One ignore file. `base`: how much of a path leads to the directory it is relative to."""

    base: int
    patterns: Patterns
    size: int


class Rules(Struct, frozen=True):
    """What holds in a directory. `base`: how much of a path leads to the repository, or to the root if it is none.

    `layers` has the nearest ignore file first. In a directory that is itself ignored only what is tracked counts.
    """

    base: int = 0
    in_repository: bool = False
    tracked: Tracked = NOTHING
    layers: tuple[IgnoreLayer, ...] = ()
    is_ignored: bool = False

    def with_file(self, data: bytes, base: int) -> tuple["Rules", bool]:
        """These rules and, nearer than all others, those in an ignore file's bytes; and whether all of them count."""
        room = min(MAX_FILE, MAX_IN_FORCE - sum(layer.size for layer in self.layers))
        lines = data[:room].removeprefix(b"\xef\xbb\xbf").split(b"\n")
        fits = len(data) <= room
        patterns = compile_patterns(lines if fits else lines[:-1])  # the last was cut off somewhere
        layer = IgnoreLayer(base, patterns, min(len(data), room))
        layers = (layer, *self.layers) if patterns else self.layers
        return replace(self, layers=layers), fits and not patterns.unused

    def ignore(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether a name in this directory is ignored, tracked or not; `path` is from the root."""
        if self.is_ignored:
            return True
        for layer in self.layers:
            verdict = layer.patterns.verdict(path[layer.base :], is_directory=is_directory)
            if verdict is not None:
                return verdict
        return False

    def track(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether the name is tracked or, for a directory, something below it."""
        known = self.tracked
        return (known.reaches_into if is_directory else known.holds)(path[self.base :])
