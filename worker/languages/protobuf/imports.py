"""Protocol Buffers: files below directories that are given to the compiler."""

import re
from functools import partial

from fledgling.worker.resolving.load_path import path_resolver

resolver = partial(path_resolver, stdlib=re.compile("google/protobuf/"))
