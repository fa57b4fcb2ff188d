"""Why a file has no text in the index, and why a name of the project is not in it at all: the words that are said."""

BINARY = "binary"
TOO_LARGE = "too large"
SECRET = "secret"
SYMLINK = "symlink"
UNREADABLE = "unreadable"
CHANGED = "changed while it was indexed"
NO_ROOM = "over memory_limit"
SKIPPED = (BINARY, TOO_LARGE, SECRET, SYMLINK, UNREADABLE, CHANGED, NO_ROOM)  # all of `files.skip_reason`

# Files of text that a search should have looked through; of NO_ROOM every answer tells.
UNREAD = (TOO_LARGE, UNREADABLE, CHANGED)
PASSING = (UNREADABLE, CHANGED)  # which another index may have

IGNORED = "ignored"
EXCLUDED = "excluded"
NESTED = "nested repository"
SUBMODULE = "submodule"
TOO_DEEP = "too deep"
SPECIAL = "special file"
ELSEWHERE = "other file system"
CLOSED_FILE = "unreadable file"
CLOSED_DIRECTORY = "unreadable directory"
LEFT_OUT = (IGNORED, EXCLUDED, NESTED, SUBMODULE, TOO_DEEP, SPECIAL, ELSEWHERE, CLOSED_FILE, CLOSED_DIRECTORY)

COUNTING = (
    "Lines are still being counted: until then they, symbol counts and the largest file are missing, binary and "
    "unreadable files are listed like others, and languages are told by the names of files alone."
)
EXTRACTING = "Definitions are still being extracted: enclosing names and symbol counts are missing until then."
