"""R: files that `source` names; a word is a package."""

from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver

STDLIB = word_list("r/stdlib.txt")

resolver = partial(path_resolver, stdlib=deferred(rf"(?:{'|'.join(sorted(STDLIB))})$"))
