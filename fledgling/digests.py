"""Digests as hashlib has them, without OpenSSL, which takes longer to load than all that a command has to hash.

They are in modules of Python's own, whose names nobody promises: where those are not there, they are hashlib's.
"""

TYPE_CHECKING = False  # as type checkers know it: `typing` is not loaded
if TYPE_CHECKING:
    from typing import Any


def first(name: str, *modules: str) -> "Any":
    """Return what the first of some modules that is there has by a name; hashlib's where none is."""
    for module in modules:
        try:
            return getattr(__import__(module), name)
        except ImportError:
            continue
    return getattr(__import__("hashlib"), name)


if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    blake2b = first("blake2b", "_blake2")
    sha256 = first("sha256", "_sha2", "_sha256")  # since Python 3.12, and before

__all__ = ["blake2b", "sha256"]
