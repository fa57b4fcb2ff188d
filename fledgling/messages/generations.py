"""The generations of an index: stages in which it is sealed and served."""

from typing import Final

LISTING: Final = 0  # before the first generation of an index: what the names of files tell
TEXT: Final = 1  # the first generation of an index: files and text
CODE: Final = 2  # the second: the same, and what the parsers found in it
WORDS: Final = 3  # the third: the same, and which files say what
GRAPH: Final = 4  # the fourth: the same, and which definition each use of a name means
EDGES: Final = 5  # the last: the same, and where SQL is allowed tables of that; elsewhere it comes with the fourth
