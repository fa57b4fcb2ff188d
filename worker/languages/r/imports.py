"""R: files that `source` names; a word is a package."""

import re
from functools import partial

from fledgling.worker.language import word_list
from fledgling.worker.resolving.load_path import path_resolver

STDLIB = word_list("r/stdlib.txt")

resolver = partial(path_resolver, stdlib=re.compile(rf"(?:{'|'.join(sorted(STDLIB))})$"))
