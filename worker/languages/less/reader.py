"""Less and SCSS: what CSS has, and comments that end with their lines."""

from functools import partial

from fledgling.worker.languages.css.reader import LESS_OR_SCSS
from fledgling.worker.languages.css.reader import outline as stylesheet

outline = partial(stylesheet, token=LESS_OR_SCSS)
