"""Zig: files beside the importing one; a word is a package or `std`."""

from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver

resolver = partial(path_resolver, stdlib=deferred("(?:std|builtin|root)$"))
