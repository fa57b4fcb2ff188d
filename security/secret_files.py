"""Which files hold secrets by their names alone: `secret_files.txt` is the list, and its content is never indexed."""

from pathlib import Path

from fledgling.gitignore import compile_patterns

_NAMES = compile_patterns(Path(__file__).with_name("secret_files.txt").read_bytes().split(b"\n"), of_files=True)


def is_secret(path: str) -> bool:
    """Whether the file, by its path from the root, is taken to hold secrets.

    >>> is_secret("deploy/.ENV"), is_secret(".ssh/config"), is_secret(".env.example")
    (True, True, False)
    """
    return bool(_NAMES.verdict(path.lower().encode(), is_directory=False))
