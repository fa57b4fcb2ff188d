"""What is known of a language: the columns of `languages/NAME/language.toml`, and which language a file is written in.

Everything said about one language stands in its folder, as data and, where data is not enough, as a module that its row
names: no other module knows it. `detect` asks the file's name first, then its `#!` line.
"""

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from fledgling.messages.languages import ORDINARY, Conventions, Modules, Unnamed
from fledgling.worker.dialect import Dialect
from fledgling.worker.process.fault import EverybodysError

FOLDER = Path(__file__).parent / "languages"
OWN_PATH = re.compile(r" ?\(/[^()]*+\)")  # that of a module, as ImportError names it
PLACE = "worker/languages"  # where that is, as an error names it
INTERPRETER = re.compile(r"[a-z]+(?:-[a-z]+)*")  # `python3.11` names python, `ts-node` itself


class LanguageError(EverybodysError):
    """Something in the folder of a language is wrong: says which file, and what is, in the words of what reads it."""

    def __init__(self, file: str, problem: object) -> None:
        super().__init__(f"{file}: {problem}")


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One row; what a folder's own modules are for, its row says by the name of a folder: `imports = "javascript"`."""

    # What documents call it, where that is not its name with a capital.
    title: str = ""

    # Which files: extensions in lower case with the dot; filenames exact, or all before the first dot; interpreters as
    # a #! line names them, without version. Where languages share an extension, how a text of each begins; the first
    # that fits counts. If none does it is this language, but unknown where this one is itself among them.
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    shared: dict[str, str] = {}

    # What finds definitions: grammars as module.function, the next tried when a text does not parse with the one
    # before, and files of rules, read as one: a query (extracting/captures.py explains it), `statements.toml`
    # (extracting/lexical.py) or `heads.toml` (extracting/heads.py). Or the folder whose reader.py reads the language.
    grammars: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    reader: str | None = None

    # Or the folder whose inner.py finds the text of another language in it (extracting/inner.py): cells of a notebook.
    inner: str | None = None

    # In code something is defined, whether that is found or not. It is searched by meaning, documents by sections.
    role: Literal["code", "data", "document"] = "code"

    # What definitions are: docs are "literal", the first string of a body, or "above", a comment that starts as
    # doc_comment says. A name that matches `private` is private; `visibilities` are keywords that are no visibility
    # themselves; `visibility` is that of what says nothing, `visibility_in` the same in an owner of a kind, "" where
    # there is none. A variable whose whole name matches `constant` is one. One that is declared again counts again
    # where there are `variants`, each for another platform (#ifdef, cfg). `local` are kinds that are no symbols in a
    # function; in C and C++ functions too, as FOR_EACH(x) { } looks like one.
    docs: Literal["literal", "above"] | None = None
    doc_comment: str | None = None
    private: str | None = None
    constant: str = "_*[A-Z][A-Z0-9_]*"
    variants: bool = False
    local: tuple[str, ...] = ("variable", "constant")
    visibility: str = "public"
    visibilities: dict[str, str] = {}
    visibility_in: dict[str, str] = {}

    # Where imports lead: the folder whose imports.py resolves them, and the manifests that it reads, as glob patterns
    # of file names. An import that matches `relative` starts from the importing file. Where imports name what files
    # declare, `separator` stands between a package and a name in it; without one a resolver is told of none. `modules`
    # is what the tools know of such names. With `inner_modules` a path may lead through modules that have no file.
    imports: str | None = None
    manifests: tuple[str, ...] = ()
    relative: str = r"\."
    separator: str = ""
    modules: Modules = Modules()
    inner_modules: bool = False

    # What files and functions are by their names: where a program begins, what others import.
    conventions: Conventions = ORDINARY

    # Who uses what: the query that finds it, and what a query cannot say.
    graph: Dialect = Dialect()

    # What imports what only a running program knows, as RE2: importlib.import_module(name).
    run_time: str = ""

    # A line that declares a module which is a file, as RE2 with NAME for the module's: `mod name;`. Where it is no
    # import, as in a macro, it is not followed.
    declares: str = ""

    # How a text is repaired that the grammar does not know whole: modules in folders of languages, in the order of
    # their turns (extracting/repair.py).
    repairs: tuple[str, ...] = ()

    # A language to try where that does not help, a .h of C++; the file's language stays. `fallback_sign` is what a text
    # must hold for that to be tried, as RE2 (one expression over all of it); `fallback_sure` likewise for nothing else
    # to be tried: of 3,400 such headers one was C.
    fallback: str | None = None
    fallback_sign: str = ""
    fallback_sure: str = ""

    # All up to where the body of a function begins, or the values of a variable: its `{` at the end of a line, or the
    # first word of lines that are indented more than `indent`, behind a docstring. It is a guess
    # (extracting/elided_bodies.py). Where `tokens` matches it is a macro's, in which nothing defines; with `above` a
    # head may take several lines. And what a statement of a body holds that defines or imports something and must be
    # parsed, as RE2, which takes no line with a dot alone: one ends each body.
    body: str = ""
    defining: str = ""

    # Comments, and what may hold the look of one, by their names in languages/tokens.toml: of languages without a
    # grammar, and of those with a body.
    comment_lines: bool = True
    comments: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()

    @property
    def finds_definitions(self) -> bool:
        """Whether something looks for definitions."""
        return bool(self.rules or self.reader or self.inner)

    @property
    def importing(self) -> str:
        """One word for the languages that may import each other: those that share packages, or are resolved alike."""
        shares = self.modules.packages not in ("", "directory", "tree")
        return self.modules.packages if shares else self.imports or ""

    @property
    def family(self) -> str:
        """One word for the languages with a graph that may use each other's names."""
        return self.graph.family or self.imports or ""

    @property
    def unnamed(self) -> Unnamed:
        """What may run a definition where nothing names it."""
        graph = self.graph
        return Unnamed(graph.unnamed, graph.by_parameter, graph.inert, graph.plain_bases, graph.tests)


class Languages(Struct, frozen=True):
    """The rows, the token expressions they name, the text of their rules, and the three ways to a name."""

    rows: dict[str, Language]
    tokens: dict[str, str]
    rules: dict[str, str]
    by_extension: dict[str, str]
    by_filename: dict[str, str]
    by_interpreter: dict[str, str]
    manifests: re.Pattern[str]

    def detect(self, filename: str, head: bytes) -> str | None:
        """The language of a file by its name, else by its first bytes; None if unknown.

        `detect("app.py", b"")` and `detect("app", b"#!/usr/bin/env python3")` are both "python". Raises LanguageError.
        """
        stem, dot, _ = filename.partition(".")
        suffix = filename[filename.rfind(".") :].lower() if dot else ""
        language = (
            self.by_filename.get(filename)
            or self.by_extension.get(suffix)
            or self.by_filename.get(stem)
            or self.by_interpreter.get(interpreter(head))
        )
        shared = self.rows[language].shared if language in self.rows else {}
        if not shared or not head.strip():
            return language
        fitting = (other for other, sign in shared.items() if re.match(sign.encode(), head))
        try:
            return next(fitting, None if language in shared else language)
        except re.error as problem:
            raise LanguageError(f"{PLACE}/{language}/language.toml", f"shared: {problem}") from problem

    def by_extensions(self, paths: Iterable[str]) -> set[str]:
        """The languages that the extensions of files tell: of `["a.py", "b/Makefile"]` it is python alone."""
        suffixes = {path[path.rfind(".") :].lower() for path in paths}
        return {self.by_extension[suffix] for suffix in suffixes & self.by_extension.keys()}

    def modules(self) -> dict[str, Modules]:
        """What the tools must know of modules and imports, by language."""
        return {
            name: replace(row.modules, imports=row.importing, run_time=row.run_time, declares=row.declares)
            for name, row in self.rows.items()
            if row.imports
        }

    def conventions(self) -> dict[str, Conventions]:
        """What files and functions of a language are by their names, where that is not what they are in any."""
        return {name: row.conventions for name, row in self.rows.items() if row.conventions != ORDINARY}

    def documents(self) -> tuple[str, ...]:
        """The languages of documents, which are read section by section."""
        return tuple(name for name, row in self.rows.items() if row.role == "document")

    def code(self) -> tuple[str, ...]:
        """The languages of code."""
        return tuple(name for name, row in self.rows.items() if row.role == "code")

    def undefined(self) -> tuple[str, ...]:
        """The languages of code whose definitions are not extracted."""
        return tuple(name for name, row in self.rows.items() if row.role == "code" and not row.finds_definitions)

    def graphed(self) -> tuple[str, ...]:
        """The languages whose uses of names are resolved."""
        return tuple(sorted(name for name, row in self.rows.items() if row.graph.rules))

    def beside(self) -> dict[str, list[str]]:
        """Of each language whose uses of names are resolved, those that may import it and whose uses are not."""
        others = [(name, row.importing) for name, row in sorted(self.rows.items()) if not row.graph.rules]
        return {
            name: [other for other, importing in others if importing and importing == self.rows[name].importing]
            for name in self.graphed()
        }

    def in_any_case(self) -> tuple[str, ...]:
        """The languages in which a use may spell the name of a function or a class in another case."""
        return tuple(sorted(name for name, row in self.rows.items() if row.graph.in_any_case))

    def inferring_new(self) -> tuple[str, ...]:
        """The languages in which `new()` may make an object of a type that is not written."""
        return tuple(sorted(name for name, row in self.rows.items() if row.graph.infers_new))

    def unnamed(self) -> dict[str, Unnamed]:
        """What may run a definition where nothing names it, of each language whose uses of names are resolved."""
        return {name: self.rows[name].unnamed for name in self.graphed()}

    def is_manifest(self, path: str) -> bool:
        """Whether resolution reads the text of this file: `is_manifest("web/tsconfig.json")`."""
        return self.manifests.fullmatch(path.rpartition("/")[2]) is not None


def interpreter(head: bytes) -> str:
    """The program a `#!` line names, without path and version: `#!/usr/bin/env -S python3 -I` is "python", else ""."""
    if not head.startswith(b"#!"):
        return ""
    words = head[2:].partition(b"\n")[0].decode("ascii", "replace").split()
    programs = (word.rpartition("/")[2] for word in words if not word.startswith("-") and "=" not in word)
    name = next((program for program in programs if program != "env"), "")
    match = INTERPRETER.match(name.lower())
    return match[0] if match else ""


def own_module(folder: str, name: str) -> ModuleType:
    """A module of a language's folder: `own_module("go", "imports").resolver`. Raises LanguageError."""
    try:
        return import_module(f"fledgling.worker.languages.{folder}.{name}")
    except LanguageError:
        raise
    except Exception as problem:
        words = OWN_PATH.sub("", f"{type(problem).__name__}: {getattr(problem, 'strerror', None) or problem}")
        raise LanguageError(f"{PLACE}/{folder}/{name}.py", words) from problem


def own_text(path: str) -> str:
    """A file in the folder of a language: `own_text("go/tags.scm")`. Raises LanguageError."""
    try:
        return (FOLDER / path).read_text()
    except (OSError, UnicodeError) as problem:
        raise LanguageError(f"{PLACE}/{path}", getattr(problem, "strerror", None) or problem) from problem


def word_list(path: str) -> frozenset[str]:
    """A list of names in the folder of a language, one a line: `word_list("go/stdlib.txt")`."""
    return frozenset(own_text(path).split())
