"""Where the modules of a Python project begin, as the settings of its build say: folders that are installed as the top.

    [tool.maturin] python-source = "python"
    [tool.setuptools] package-dir = { "" = "lib", "a.b" = "other/b" }
    [tool.poetry] packages = [{ include = "a", from = "lib" }]
    [tool.hatch.build.targets.wheel] packages = ["lib/a"]

https://packaging.python.org/en/latest/guides/writing-pyproject-toml/ and the pages of each backend.
"""

import configparser
import posixpath
from collections.abc import Iterator

from fledgling.worker.deferred import deferred
from fledgling.worker.resolving.manifest import Table, parse_toml, strings, table
from fledgling.worker.resolving.project import Project, join

ROOTS = (  # below [tool], where a folder or a list of folders is said
    ("maturin", "python-source"),
    ("setuptools", "packages", "find", "where"),
    ("hatch", "build", "dev-mode-dirs"),
    ("hatch", "build", "sources"),
    ("hatch", "build", "targets", "wheel", "sources"),
    ("pdm", "build", "package-dir"),
    ("uv", "build-backend", "module-root"),
    ("pytest", "ini_options", "pythonpath"),
)
PACKAGES = (  # where a list of packages is said by their folders
    ("hatch", "build", "packages"),
    ("hatch", "build", "targets", "wheel", "packages"),
    ("scikit-build", "wheel", "packages"),
)
PACKAGE_DIR = deferred(r"\bpackage_dir\s*=\s*(?:dict\()?\{([^{}]*)\}")
PAIR = deferred(r"""(["'])([\w.]*)\1\s*:\s*(["'])([\w./-]*)\3""")


def source_roots(project: Project) -> Iterator[tuple[str, str]]:
    """Packages and the folders that hold what is in them: ("", "python") for a folder that modules start from."""
    for directory, text in project.manifests_named("pyproject.toml"):
        yield from _below(directory, of_pyproject(table(parse_toml(text).get("tool"))))
    for directory, text in project.manifests_named("setup.cfg"):
        yield from _below(directory, of_setup_cfg(text))
    for directory, text in project.manifests_named("setup.py"):
        found = (PAIR.finditer(pairs[1]) for pairs in PACKAGE_DIR.finditer(text))
        yield from _below(directory, ((pair[2], pair[4]) for each in found for pair in each))


def of_pyproject(tool: Table) -> Iterator[tuple[str, str]]:
    """What `[tool]` says."""
    for keys in ROOTS:
        value = _at(tool, keys)
        yield from (("", folder) for folder in (value if isinstance(value, dict) else strings(value)))
    for keys in PACKAGES:
        yield from (("", posixpath.dirname(folder.rstrip("/"))) for folder in strings(_at(tool, keys)))
    for package, folder in table(_at(tool, ("setuptools", "package-dir"))).items():
        yield from ((package, one) for one in strings(folder))
    packages = _at(tool, ("poetry", "packages"))
    for each in packages if isinstance(packages, list) else ():
        yield from (("", folder) for folder in strings(table(each).get("from")))


def of_setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    """What `package_dir` and `where` of a setup.cfg say."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        package, equals, folder = line.partition("=")
        if equals:
            yield package.strip(), folder.strip()
    yield from (("", folder) for folder in parser.get("options.packages.find", "where", fallback="").split())


def _below(directory: str, found: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for package, folder in found:
        place = join(directory, folder)
        if place is not None:
            yield package, place


def _at(value: object, keys: tuple[str, ...]) -> object:
    for key in keys:
        value = table(value).get(key)
    return value
