"""Frameworks of Objective-C: Apple's, and the project's own, of which each has a header of its name."""

from fledgling.worker.language import word_list
from fledgling.worker.resolving.project import Project, Suffixes, only

END = ".h"
APPLES = word_list("swift/stdlib.txt") | {"dispatch", "libkern", "mach", "objc"}  # and directories of system headers
SYSTEM = frozenset({"AssertMacros.h", "Availability.h", "AvailabilityMacros.h", "TargetConditionals.h"})


class Frameworks:
    """What `@import Shop` and `#import <Shop/Cart.h>` may mean.

    >>> Frameworks(project).locate("App", "Shop/Cart.h")
    'Shop/Model/Cart.h'
    """

    def __init__(self, project: Project) -> None:
        self._headers = Suffixes(path for path in project.files if path.endswith(END))

    def locate(self, directory: str, module: str) -> str | None:
        """Return the header of a framework, or one of the name that it has there, wherever that is."""
        framework, _, header = module.partition("/")
        whole = self._headers.nearest(f"{framework}{END}", directory)
        if not whole or "/" in header:
            return None
        return only(self._headers.nearest(header, directory) if header else whole)


def is_apples(module: str) -> bool:
    """Return whether this is of Apple's systems: `is_apples("Foundation/Foundation.h")`."""
    return module in SYSTEM or module.partition("/")[0] in APPLES
