"""Zig: files beside the importing one; a word is a package or `std`."""

import re
from functools import partial

from fledgling.worker.resolving.load_path import path_resolver

resolver = partial(path_resolver, stdlib=re.compile("(?:std|builtin|root)$"))
