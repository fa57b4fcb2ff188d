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


class Conventions(Struct, frozen=True, forbid_unknown_fields=True):
    """What files and functions of a language are by their names alone; the row of the language says so.

    A program begins at a function that is called `main`, "" where a name says nothing; at such a method too where it
    may be `main_in_class`; and, where `main_alone`, at no file for its name. Else it begins at files whose path
    matches `started`, at those in `pages` beside a page, and at types behind `main_marked`. What matches `unstarted` is
    no program, whatever it defines. `guard` is a line of a module that says behind it what it does where it is run.
    Of `scripts` each file is a command.

    Others import what is in `library` by its directory, all that is in the outermost one where that is a
    `root_package`, and, beside a manifest that matches a key of `packaged`, what the value matches; NAME in it is the
    name of the directory. What matches `hosted` is started by others, such as a server of applications. The first of
    `speaks` that is there speaks for its directory, of which NAME is the name. Where there are `docstrings` one says
    what its definition is for.

    Paths and lines are matched as a whole, as `re` does.
    """

    main: Word = "main"
    main_in_class: bool = False
    main_alone: bool = False
    main_marked: Word = ""
    started: Word = ""
    unstarted: Word = ""
    pages: tuple[Word, ...] = ()
    guard: Word = ""
    scripts: bool = False
    library: tuple[Word, ...] = ()
    root_package: bool = False
    packaged: dict[Word, Word] = {}
    hosted: Word = ""
    speaks: tuple[Word, ...] = ()
    docstrings: bool = False


ORDINARY = Conventions()  # those of a language whose row says nothing of them


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
