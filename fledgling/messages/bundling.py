"""What broker and bundler say to each other; the bundler answers `Ready`, too (control.py)."""

from msgspec import Struct

from fledgling.messages.bounded import Count, Word
from fledgling.messages.control import CONFINED, Confining


class Bundle(Struct, frozen=True, forbid_unknown_fields=True, tag="bundle"):
    """Broker to bundler: fill two empty memory files with the first level and the tables of the indexes in another.

    The last `table_bytes` of that are StoredIndexes as MessagePack. Those `without` are left out.
    """

    broker_pid: int
    fd: int
    table_bytes: Count
    level_fd: int
    tables_fd: int
    memory_limit: int
    confining: Confining = CONFINED
    without: tuple[Count, ...] = ()


class Export(Struct, frozen=True, forbid_unknown_fields=True, tag="export"):
    """Broker to bundler: fill empty memory files with the tables of the indexes in another, each as a Parquet file.

    The last `table_bytes` of that are StoredIndexes as MessagePack, and `repositories` what the indexes are called.
    `tables` are the files by the names of tables, and `staging` is one more, for what is at work. Those `without` are
    left out.
    """

    broker_pid: int
    fd: int
    table_bytes: Count
    repositories: tuple[Word, ...]
    staging_fd: int
    tables: dict[Word, int]
    memory_limit: int
    confining: Confining = CONFINED
    without: tuple[Count, ...] = ()


class TakenIndex(Struct, frozen=True, forbid_unknown_fields=True, tag="taken"):
    """Bundler to broker: the next index, in their order, is taken or left out; its tables take so many bytes."""

    bytes: Count


class Exhausted(Struct, frozen=True, forbid_unknown_fields=True, tag="exhausted"):
    """Bundler to broker: there is no memory left for tables, and those of this index take most of it."""

    number: Count


class Bundled(Struct, frozen=True, forbid_unknown_fields=True, tag="bundled"):
    """Bundler to broker: what it makes is written, but for the indexes with these numbers."""

    unreadable: tuple[Count, ...] = ()
