"""Types with bounds, of which messages are made: what a back process says beyond them is not passed on."""

from typing import Annotated

from msgspec import Meta

from fledgling.plain import HIDDEN, MAX_SAID_CHARS

MAX_LINE = 2**31 - 1  # line numbers are INTEGER in the tables
MAX_COUNT = 2**53  # of files, lines and bytes: readers of JSON hold integers as doubles; beyond this they would round
MAX_PATH_CHARS = 2**17  # 128 directories in one another, names of 255 bytes, and four characters for each
MAX_STEPS = 5000  # from a class to one that is derived from it by way of others; as many are followed
MAX_WORD_CHARS = 256  # of a language, a reason, the name of a layer
MAX_SHOWN_CHARS = 2**12  # of a line of text: 2,000, and marks that count what is missing
MAX_OTHERS = 10  # definitions of a file that are named beside the best: 6 tokens each
MAX_CANDIDATES = 50  # files that an embedding endpoint is asked about; ranked behind them, none comes to be the first
CANDIDATE_BYTES = 1000  # of each as UTF-8 that go there, about 250 tokens: models read 512 and more

# Back processes may lie: what a broker passes on is within these bounds, or its sender is killed (tests/test_wire.py).
# What fits a question, and what an answer says of itself, is in broker/fitting.py.

# No control or format character, no line break, no space but the plain one: it can neither be obeyed nor hidden.
_SEEN = rf"[^\x00-\x1f\xa0\u202f\u205f{HIDDEN}]"
_RELATIVE = r"^(?!/)(?!(?:.*/)?\.\.(?:/|\Z))" + _SEEN  # below the root: not absolute, and no `..` in it

Said = Annotated[str, Meta(max_length=MAX_SAID_CHARS, pattern=rf"^{_SEEN}*\Z")]  # a sentence of ours
Word = Annotated[str, Meta(max_length=MAX_WORD_CHARS, pattern=rf"^{_SEEN}*\Z")]
Path = Annotated[str, Meta(max_length=MAX_PATH_CHARS, pattern=rf"{_RELATIVE}+\Z")]
Place = Annotated[
    str, Meta(max_length=MAX_PATH_CHARS, pattern=rf"{_RELATIVE}*\Z")
]  # a path, or the root, which has none
Shown = Annotated[
    str, Meta(max_length=MAX_SHOWN_CHARS, pattern=r"^[^\n]*\Z")
]  # one line of text, as the project has it
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
At = Annotated[int, Meta(ge=0, le=MAX_LINE)]  # a line; a profile's view may say what is none, and that is 0
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Share = Annotated[float, Meta(ge=0, le=1)]
