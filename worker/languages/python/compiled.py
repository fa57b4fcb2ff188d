"""Modules of Python that are compiled from Rust, as the settings of maturin and setuptools-rust say.

    [tool.maturin] module-name = "a._native"
    [[tool.setuptools-rust.ext-modules]] target = "a._native"

https://www.maturin.rs/project_layout and https://setuptools-rust.readthedocs.io/en/latest/reference.html
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator

from fledgling.worker.resolving.manifest import Table, parse_toml, table
from fledgling.worker.resolving.project import Project, join

PACKAGE = "__init__.py"


def compiled(project: Project) -> dict[str, dict[str, str]]:
    """The place of each such module below where modules start, and for each directory whose settings say it, its file.

    >>> compiled(project)
    {'a/_native': {'': 'src/lib.rs'}}
    """
    crates = dict(project.manifests_named("Cargo.toml"))
    found = defaultdict[str, dict[str, str]](dict)
    for directory, text in project.manifests_named("pyproject.toml") if crates else ():
        settings = parse_toml(text)
        for name, manifest in _said(settings):
            crate = join(directory, posixpath.dirname(manifest))
            if crate is None or crate not in crates:
                continue
            raw = parse_toml(crates[crate])
            library = table(raw.get("lib"))
            path = join(crate, _text(library, "path") or "src/lib.rs")
            place = name or _text(library, "name") or _text(table(raw.get("package")), "name").replace("-", "_")
            if not name and _source(settings, directory, place) in project.files:
                place = f"{place}.{place}"
            if path is not None and path in project.files:
                found[place.replace(".", "/")][directory] = path
    return dict(found)


def _said(settings: Table) -> Iterator[tuple[str, str]]:
    """The name of each module, if one is said, and the manifest of its crate."""
    tool = table(settings.get("tool"))
    if "maturin" in tool or _text(table(settings.get("build-system")), "build-backend") == "maturin":
        maturin = table(tool.get("maturin"))
        yield _text(maturin, "module-name"), _text(maturin, "manifest-path") or "Cargo.toml"
    extensions = table(tool.get("setuptools-rust")).get("ext-modules")
    for each in map(table, extensions if isinstance(extensions, list) else ()):
        if target := _text(each, "target"):
            yield target, _text(each, "path") or "Cargo.toml"


def _source(settings: Table, directory: str, name: str) -> str | None:
    """The file that makes a package in Python of a crate's name; the module is in that, then."""
    source = _text(table(table(settings.get("tool")).get("maturin")), "python-source")
    return join(directory, posixpath.join(source, name, PACKAGE))


def _text(said: Table, key: str) -> str:
    value = said.get(key)
    return value if isinstance(value, str) else ""
