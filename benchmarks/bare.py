"""The build of `fledgling index` in one plain process: no confinement, no pipe, nobody waiting. `bare.py ROOT PROFILE`.

Extractors and lister stay processes: the first are what uses the cores, and the second is how it walks.
"""

import gc
import os
import sys

from fledgling.messages.control import Build, Confining, Images
from fledgling.scope import Scope
from fledgling.security import memory_file
from fledgling.security import profile as profiles
from fledgling.security.confinement import LAYERS
from fledgling.worker.extractor.pool import Extractors
from fledgling.worker.gate.statement import Gate
from fledgling.worker.indexer.build import Building
from fledgling.worker.indexer.index import Index
from fledgling.worker.languages.table import load_languages
from fledgling.worker.lister.process import Lister
from fledgling.worker.store.database import open_empty, start

gc.disable()
root, profile = sys.argv[1], profiles.load(sys.argv[2])
languages = load_languages(profile, for_graph=False)  # as for `fledgling index`
images = Images(*(memory_file.create() for _ in Images.__struct_fields__))
scope, unconfined = Scope(max_files=1_000_000), Confining(without=tuple(LAYERS))
order = Build(os.getpid(), images, os.open(root, os.O_RDONLY | os.O_DIRECTORY), profile, scope, confining=unconfined)
lister = Lister(order, languages)
extractors = Extractors(languages, unconfined, profile.memory_limit)
scope = lister.began().narrowed.scope
extractors.confined()
gate = Gate() if profile.views else None
open_empty(db := start(), images)
index = Index(db, gate, images, profile, languages.modules(), extractors.sign, has_content=True)
Building(order, scope, index, languages, lister, extractors, lambda _: None).run()
