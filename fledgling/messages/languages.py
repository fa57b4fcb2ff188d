"""What broker and query worker must know of a language, as its row says it."""

from msgspec import Struct

from fledgling.messages.bounded import Count, Said, Word


class Modules(Struct, frozen=True, forbid_unknown_fields=True):
    """How a language names modules, as far as the tools must know it; the row of the language says so.

    `root` stands between the parts of a name, of which the first is what all modules of a package share, or as many as
    `longer` says where it holds a sign: three with a dot in Go. Without it they share the whole name. A directory whose
    modules begin with a name of its own says it in a file, which is `named`, with the word before it. Languages with
    one word for `packages` share those that their files declare; what is below one of `nested` parts or more may be of
    the project, too. Where that is "directory", the files in one are a package; where it is "tree", so are all below a
    directory of that name. A directory with a file that is called `package` is one; where `spread` matches in
    that, others may hold more of it. What ends in `apart` is of none.
    Files of one package use each other without an import. So may all files of a language what is of the kinds that it
    `autoloads`: it is loaded by its name, a module by its full one, a "namespace" by the last part of its,
    where a file has nothing else of them. Where it `chains`, a module may begin with a name that the file imports; the
    words in `around` mean modules around the file, and no directory has such a name.

    Languages with one word for `imports` may import each other; without it imports are not extracted. What `run_time`
    matches, as RE2, imports what only a running program knows; what `declares` matches, with a name for NAME,
    declares a module that is a file.
    """

    root: Word = ""
    around: tuple[Word, ...] = ()
    longer: dict[Word, Count] = {}
    named: dict[Word, Word] = {}
    packages: Word = ""
    nested: Count = 0
    package: Word = ""
    spread: Word = ""
    apart: Word = ""
    autoloads: tuple[Word, ...] = ()
    chains: bool = False
    imports: Word = ""
    run_time: Word = ""
    declares: Word = ""


class Unnamed(Struct, frozen=True, forbid_unknown_fields=True):
    """How a language tells what may run a definition where nothing names it; the row of the language says so.

    Code runs `methods` of such names without them, `__add__` by `a + b`. Parameters of a function's name are given what
    it returns if `by_parameter` matches what stands above it; what `inert` matches there hands it to nobody. What is
    in a module above which `tests` matches is of the tests. Each is an expression, "" where there is nothing of that.
    Of the classes outside that one may be derived from, those in `plain` call no method of it.
    """

    methods: Word = ""
    by_parameter: Word = ""
    inert: Word = ""
    plain: tuple[Word, ...] = ()
    tests: Word = ""


class KnownLanguage(Struct, frozen=True, forbid_unknown_fields=True):
    """A language, and what is found in its files: what `fledgling languages` lists. `parser` reads all but comments."""

    name: Word
    definitions: bool
    imports: bool
    comments: bool
    uses: bool
    parser: Said | None = None
    extensions: tuple[Word, ...] = ()
