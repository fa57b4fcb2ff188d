"""The root of a module: who imports `pkg.a.b` and finds no file means a missing one where others find some in `pkg`."""

from fledgling.messages.languages import Modules


def root(module: str, modules: Modules | None) -> str:
    """Return the part of a module's name that all modules of its package share, by the row of its language.

    >>> root("pkg.a.b", Modules(root=".")), root("@a/b/c", Modules(root="/", longer={"@": 2})), root("a.b", None)
    ('pkg', '@a/b', 'a.b')
    """
    if modules is None or not modules.root:
        return module
    parts = module.split(modules.root)
    count = next((count for sign, count in modules.longer.items() if sign in parts[0]), 1)
    return modules.root.join(parts[:count])
