"""The root of a module: who imports `pkg.a.b` and finds no file means a missing one where others find some in `pkg`."""


def root(module: str, language: str | None) -> str:
    """Return the part of a module's name that all modules of its package share; where packages are declared, all of it.

    >>> root("pkg.a.b", "python"), root("a.com/b/c/d", "go"), root("@a/b/c", "typescript")
    ('pkg', 'a.com/b/c', '@a/b')
    """
    first, *_ = parts = module.split("/")
    match language:
        case "python" | "lua":
            return module.split(".")[0]
        case "rust":
            return module.split("::")[0]
        case "go" if "." in first:
            return "/".join(parts[:3])
        case "javascript" | "typescript" if module.startswith("@"):
            return "/".join(parts[:2])
        case "javascript" | "typescript" | "ruby" | "go":
            return first
        case _:
            return module
