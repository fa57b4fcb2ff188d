"""What is indexed. It stands apart from the settings it is a part of: the messages need it, and not what reads YAML."""

from msgspec import Struct

DEFAULT_EXCLUDES = ("*.pyc", "__pycache__", ".git", "node_modules")
DEFAULT_MAX_FILE_SIZE = 1_048_576  # bytes; hand-written source is smaller, and one file must not fill the index
DEFAULT_MAX_FILES = 50_000  # files; past it an index no longer fits the memory of the core profile


class Scope(Struct, frozen=True):
    """What is indexed: the part of the settings that a project's own file may narrow, and the indexer needs."""

    exclude_patterns: tuple[str, ...] = DEFAULT_EXCLUDES
    max_file_size: int = DEFAULT_MAX_FILE_SIZE
    max_files: int = DEFAULT_MAX_FILES
    index_content: bool = True
    submodules: bool = False
