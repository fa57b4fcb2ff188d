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
        """Return the header of a framework, or one of the name that it has there, wherever that is.

        All of it is below the directory of its header; where that has another name, `include`, below the one above.
        """
        framework, _, header = module.partition("/")
        whole = self._headers.nearest(f"{framework}{END}", directory)
        if not header or not whole:
            return only(whole)
        places = set() if "/" in header else {_place(path.rpartition("/")[0], framework) for path in whole}
        found = {path for place in places for path in self._headers.nearest(header, place) if _is_below(path, place)}
        return only([*found])


def _is_below(path: str, directory: str) -> bool:
    return not directory or path.startswith(f"{directory}/")


def _place(directory: str, framework: str) -> str:
    """The directory of a framework, of that which its header is in."""
    above, _, own = directory.rpartition("/")
    return directory if own == framework or not above else above


def is_apples(module: str) -> bool:
    """Return whether this is of Apple's systems: `is_apples("Foundation/Foundation.h")`."""
    return module in SYSTEM or module.partition("/")[0] in APPLES
