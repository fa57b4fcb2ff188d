"""Protocol Buffers: files below directories that are given to the compiler."""

from functools import partial

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.load_path import path_resolver

resolver = partial(path_resolver, stdlib=deferred("google/protobuf/"))
