"""What is known of one file when it has been parsed: the same tables in every language.

Everything that a name can stand for is an expression; expressions, scopes and bindings refer to each other by their
place in their table. So `d = Dog(); d.bark()` is

    expressions   0 NAME Dog   1 CALL 0   2 NAME d, of binding 0   3 GET 2 bark   4 CALL 3
    bindings      0 (scope 0, d, expression 1)
    sites         Dog at 0, call of 0; d, read of 2; bark, call of 3

A NAME knows which bindings reach it where the function that binds it is the one that uses it; otherwise the resolver
looks it up from its scope outwards.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, starmap
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, msgpack
from msgspec.structs import astuple

from fledgling.worker.arrays import NDArray
from fledgling.worker.rows import ImportRow

NONE = -1  # no expression, no scope, no name
A_TYPE, A_FUNCTION, A_VALUE = 1, 2, 3  # what alone a BARE may mean
A_TRAIT = 1  # what a SUPER means first
NULL = 1  # part of a MADE that is null: no plain type takes it
CHARACTER = 2  # part of a MADE that is one, `'a'` of C++
MADE = 1  # the expression of all that is nothing of the project: None, 1.5, a + b
WHOLE = "="  # the name of the export that is the whole of a module: `module.exports = a`
ASSIGNED = 1  # to a name that is bound further out, in a function: a field, a variable of the module
DECLARED = 2  # a variable that is defined elsewhere: `extern int a;`
OF_OBJECTS = 3  # a field that no other file sees as one of the class: no static one of Java or JavaScript, or private
IN_BRANCH = 4  # in a branch of a module of Python: it need not be so
OF_PACKAGE = 5  # a static field of Java that only files of the package see
OF_CLASS = 6  # a static field of JavaScript
OF_ITSELF = 7  # the name of its own of what is written out and put under another: c of `a.b = function c() {}`
ONLY_TYPE = 8  # an alias of TypeScript, which no value has
COMPONENT = 9  # what a record of Java has: a call by its name reads it
EXPORTED = 10  # what a module of JavaScript declares where it exports it
PRIVATE = 11  # a field that its class alone sees
POSITIONAL = 12  # what a record of C# takes behind its name: a property of it, unless it inherits one of that type
KEPT, CHANGED = 1, 2  # what a name of C++ holds is constant, or may be changed, whatever it is a part of
OWN = "static:"  # stands before the name of what a class of JavaScript has itself: its objects may have another
MAX_KEY = 80  # characters of a string that can be a key
SIGNATURE = (
    "()"  # what an interface is called as; before a name, what the function of that name is declared to be called as
)
BLOCK = "&"  # the name of the parameter that gets the block behind a call
OF_HEAD = "head:"  # stands before the name of what a class of C# takes behind its own, which is no member of it
BY_MACRO = "macro:"  # stands before the name of an operator that a macro declares, in whatever class names that
TAG = "struct:"  # stands before the name of a struct, union or enum of C, which a function may have, too
VARIABLE = "variable:"  # stands before the name of what a class or file of Ruby assigns to, which no method sees
EXPORT = "export:"  # stands before the name of an export, which need not be the name of what is exported
Expression = tuple[Any, ...]  # an Op, and its parts


class Op:
    """What an expression is; behind it stand its parts.

    Here and below are plain numbers: in Python 3.11 a member of an enum takes several times as long to look up.
    """

    UNKNOWN = 0
    NAME = 1  # name, the scope that binds it or -1, the bindings that reach it or None
    GET = 2  # of, name
    CALL = 3  # of, arguments, [(name, argument)]; an argument below -1 is spread: ~argument; then INDEX for `a<B>()`
    INDEX = 4  # of, key; then of Kotlin the call that it is of an object, `a.get(b)`
    TEXT = 5  # name: a string that is short enough to be a key
    NUMBER = 6  # value
    LIST = 7  # items, whether their places are known
    TUPLE = 8  # items
    DICT = 9  # [(key, value)]; a key of -1 takes all of another dictionary
    FUNCTION = 10  # scope
    CLASS = 11  # scope
    CHOICE = 12  # any of these; with the name of a method or -1, what an operator makes of them; then True for `a += b`
    ELEMENT = 13  # of: what iterating over it gives; then True for `async for`
    ITEM = 14  # of, place: one part of what is taken apart
    ENTERED = 15  # of, whether by `async with`: what a context manager gives
    IMPORT = 16  # import
    PARAMETER = 17  # scope, place
    DECLARED = 18  # type, value or -1
    INSTANCE = 19  # of: an object of that class
    NARROWED = 20  # of, class
    SUPER = 21  # scope, the class that is named or -1: `super(A, self)`; A_TRAIT, where a class says what it uses
    THIS = 22  # scope
    REACH = 23  # bindings, otherwise or -1, what `a.b` is in general: `a.b` after `a.b = c`
    DECORATED = 24  # definition, decorators
    NEW = 25  # of, arguments, [(name, argument)], INDEX for `new A<B>()`
    MADE = 26  # a string, a number, ...: nothing of the project; behind it stands NULL or CHARACTER where it is one
    ARRAY = 27  # of, whether it is a channel, commas in its brackets, the type of its keys: a type of what holds that
    VALUE = 28  # of: the type of that value
    CAST = 29  # type, value: the type if that says anything
    BARE = 30  # name, the scope it is used in, the module if that binds it, else -1; A_TYPE or A_FUNCTION; types given
    ROOT = 31  # name, scope: where a path begins that is not looked up: the outermost namespace, `crate`, `super`
    ALIAS = 32  # of: the same, under a name that an import gives it
    TOKEN = 33  # of: a name in what a macro is replaced by, which nobody has parsed
    UNSURE = 34  # of: what a name means if an object around has no member of that name
    RENAMED = 35  # of: the same, a method of a trait under another name
    PREFIX = 36  # of: the namespace of that name, where there is one: `a` in `a\b`
    CASE = 37  # GET of what a switch looks at, the name alone: a case names a constant of an enumeration, or any other
    RECEIVED = 38  # of: what a loop over it gives first: its place or key, or what a channel gives
    POINTED = 39  # of, the operator's name: what a pointer of a library points to, `*a`; any other value is that itself
    ADDRESSED = 40  # of: `&a`, which points to a pointer of a library; any other value is itself; `ref a` of C#
    SUM = 41  # two of these, and a call of Kotlin, `a.plus(b)`: a text if one is one, else one as wide as the wider
    PRESENT = 42  # of: what it is where it is not null: `a` of `a ?? b`
    COMPUTED = 43  # what an operator gives that a class may define, of what is not written out: `-a`, `a * 2`
    POINTEE = 44  # of: the type of what a pointer leads to, which is a pointer itself where another file names one
    FILLED = 45  # name, name: what a text begins and ends with that is computed in between, `f"a_{b}"`
    PAYLOAD = 46  # of, what a pattern names, its last name, place: what a variant or a tuple with a name holds there
    EVERY = 47  # types: what is of a type parameter is of each of them
    NAMED = 48  # of, name: a member by a name that is a value, `$a->$b()`
    TOLD = 49  # of: a type that only a comment says
    QUALIFIED = 50  # of, trait: a type that a path begins with, which goes on to what that trait gives it
    ANNOTATION = 51  # of: what an annotation names, which a class that may be none is not
    CALLED = 52  # a variable, the function of its name: what `a()` runs, where the variable may be none to call
    IN_MACRO = 53  # of: the same, in what a macro gets that reads as a call
    CHECKED = 54  # of: the class that a function is declared to check an argument for
    PREDICATE = 55  # of: what such a function gives, by the type that it checks for, `a is B`
    PART = 57  # import, place: what stands there in its path, a class or a package
    OPERATED = 58  # operands, the name of a method: what an operator gives that the class of the first may define
    GIVEN_BACK = 59  # call, place: what a call gives a variable that it declares itself: `f(out var a)`
    FIXTURE = 60  # name, scope: the fixture that a text names there
    CALLBACK = 61  # name, scope: the method of an object of the class there that a text names
    DELEGATED = 62  # of, the name of a method: what a property gives that hands on to that
    LOOKUP = 56  # of, key: the type of a member, `A["b"]`, or of what is held, `A[number]`


class ScopeKind:
    """What a scope is of."""

    MODULE = 0
    FUNCTION = 1
    CLASS = 2
    BLOCK = 3
    INTERFACE = 4
    LAMBDA = 5
    NAMESPACE = 6
    SIGNATURE = 7  # of a function that is only a type


CLASSES = (ScopeKind.CLASS, ScopeKind.INTERFACE)
SPACES = (ScopeKind.MODULE, ScopeKind.NAMESPACE)
HOLDING = (  # scopes whose variables are definitions
    ScopeKind.MODULE,
    ScopeKind.CLASS,
    ScopeKind.INTERFACE,
    ScopeKind.NAMESPACE,
)


class Flag:
    """What is said of a function or class, as bits."""

    GENERATOR = 1
    STATIC = 2
    CLASSMETHOD = 4
    PROPERTY = 8
    ABSTRACT = 16
    OVERLOAD = 32
    ASYNC = 64
    SETTER = 128
    PROTOCOL = 256
    DECLARATION = 512
    EXTENSION = 1024  # it is called as a member of a type that stands elsewhere
    RECEIVES = 2048  # its first parameter is the object that it is called on
    PARTIAL = 4096  # other parts of the class may stand elsewhere
    OPERATES = 8192  # it has operators, comparisons, conditions or keys
    UNPACKS = 16384  # it takes apart what it iterates over: `a, b = c`, `[*a]`, `f(*a)`
    FORMATS = 32768  # it makes texts of what it has: `f"{a}"`, `"%s" % a`
    INDEXES = 65536  # it takes, sets or removes what is behind a key: `a[b]`
    MATCHES = 131072  # it compares with patterns
    SPREADS = 262144  # it takes all that something gives: `[*a]`, `f(*a)`, `yield from a`
    EXPLICIT = 524288  # it is called through an interface alone: `void I.a() {}`
    HIDDEN = 1048576  # no other file sees it: `private`
    MAKES = 2097152  # something else than a parser defines names in it: `make!(a);` in a module
    OPEN = 4194304  # other packages see it: `public`, `protected`
    OVERRIDES = 8388608  # it says that it overrides another one
    VIRTUAL = 16777216  # it says that another one may override it, or that it overrides one: `virtual`, `override`
    IMPLICIT = 33554432  # it may run on another object than what is around it: a lambda of Kotlin
    RUNS_ON = 67108864  # it is written for a function that runs it on an object: `a.apply { b() }`
    TYPES_NEEDED = 134217728  # of its type parameters one stands in no parameter: a call has to say it, `f<T>()`
    DERIVES = 268435456  # it says that it has what is derived: `data class`
    WITHDRAWN = 536870912  # no source may call it any more: `@Deprecated(level = DeprecationLevel.HIDDEN)`
    RENAMES = 1073741824  # a macro that stands for another name: `#define a lib_a`
    KEEPS = 2147483648  # it leaves its object as it is, and may be called on a constant: `int a() const`
    GIVES_KEPT = 4294967296  # what it gives is constant: `const A &a()`
    GIVES_PLACE = 8589934592  # what it gives lasts, `A &a()`, or is not seen: `auto a()`
    LASTING = 17179869184  # it is called on what lasts: `int a() &`
    PASSING = 34359738368  # it is called on what is made for it: `int a() &&`
    CONSTRAINED = 68719476736  # a template of C++ that is there for some types alone: `enable_if`, `requires`
    ASKED_FOR = 137438953472  # a constructor of C++ that makes no object by itself of what is passed: `explicit`
    TEMPLATED = 274877906944  # a template of C++, which a call may give types: `f<A>()`
    INNER = 549755813888  # its objects have one of the class around: `inner class`
    SINGLE = 1099511627776  # it needs no object of a class that others may be of: what an `object` has, and that itself
    IS_BLOCK = 2199023255552  # a block that stands behind a call: `a { b }`
    HEADED = 4398046511104  # its head says what makes its objects: `class A(val b: B)`, not `class A { val b: B }`
    BORROWS = 8796093022208  # it is called on a reference, `&self`
    MUTATES = 17592186044416  # on one that it may change, `&mut self`
    CONSUMES = 35184372088832  # on the object itself, `self`
    HANDS_ON = 140737488355328  # what it has of an interface another object runs: `class A : B by c`
    EXTENDS_NONE = 70368744177664  # it may implement interfaces alone, whose static functions it does not have


class Use:
    """What an occurrence of a name is there for."""

    CALL = 0
    READ = 1
    WRITE = 2
    TYPE = 3
    DECORATOR = 4
    INHERIT = 5
    IMPORT = 6
    DEFINITION = 7
    KEYWORD = 8
    STRING = 9
    OPERATOR = 10  # it calls the method of the name, which does not stand there: `+` calls `__add__`


class Parameter(Struct, array_like=True, gc=False):
    """A parameter: `rest` is 1 where it takes all further ones, 2 where it takes all that are named."""

    name: int
    type: int = NONE
    default: int = NONE
    rest: int = 0
    by_name: bool = False
    by_reference: bool = False  # `ref a`, `out a`: what is given has to be of its very type
    told: int = NONE  # the type that a comment says


class NameScope(Struct, array_like=True, gc=False):
    """A module, function, class or block. `line` is the first of its definition, `returns` its declared type."""

    kind: int
    name: int
    parent: int
    line: int
    flags: int = 0
    parameters: list[Parameter] = []
    returns: int = NONE
    returned: list[int] = []
    yielded: list[int] = []
    bases: list[int] = []  # of a method that is EXPLICIT its interface
    last: dict[int, list[int]] = {}  # the bindings of a name that hold where a class ends
    every: dict[int, list[int]] = {}  # all of them, those made from scopes within too
    stars: list[int] = []  # imports of all names
    prepended: list[int] = []  # the bases whose members come before its own
    metaclass: int = NONE
    generic: int = 0  # its type parameters, where overloads are chosen
    extended: list[int] = []  # modules whose methods a class of Ruby has itself: `extend A`
    extends: list[int] = []  # likewise of what includes a module: `def self.included(a) = a.extend B`
    includes: list[int] = []  # what comes above that: `def self.included(a) = a.include B`


class Binding(Struct, array_like=True, gc=False):
    """A name gets a value.

    `how` is 0, or says more of it. What is ASSIGNED is defined by another binding. What is DECLARED may be defined
    in another file. What is IN_BRANCH may not have run. What is OF_OBJECTS no other file sees as one of the class,
    what is OF_PACKAGE none of another package, what is PRIVATE no class below, and what is OF_CLASS no object has.
    What is OF_ITSELF begins where that is put which it names. What is ONLY_TYPE nobody calls. What is a COMPONENT
    is read by a call. What is EXPORTED others may import. What is POSITIONAL may be what a class above has.
    """

    scope: int
    name: int
    value: int
    line: int
    how: int = 0


class Imported(Struct, array_like=True, gc=False):
    """A name that is taken from a module; the module itself where it is None, its first part where it is "".

    `path` is the expression of what all names are taken from, where that is not found by a file; in Rust such a file is
    a text that is included. What is `conditional` stands in a branch, and need not run; what is taken `everywhere` is
    so in all files of the program, `global using A;` or `global using a = A.B;`.
    """

    line: int
    module: str
    name: str | None
    path: int = NONE
    conditional: bool = False
    everywhere: bool = False


class Write(Struct, array_like=True, gc=False):
    """Something is put into a field, or, where `name` is -1, behind a key; in that case `scope` is where.

    Into a slice is put not the value, but all that it gives. Where both are there, `of` is the name of a variable that
    another file of the package declares, into which it is put.
    """

    of: int
    name: int
    key: int
    value: int
    line: int
    scope: int = NONE
    is_slice: bool = False


class Augmented(Struct, array_like=True, gc=False):
    """`a += b`: the expressions of what `a` was and of what it then is, -1 for a field, which may be one object."""

    of: int
    value: int
    line: int
    scope: int


class Consumed(Struct, array_like=True, gc=False):
    """All that a value gives is taken from it, by no call and no loop: `a, b = of`, `a in of`, `a[:] = of`."""

    of: int
    line: int
    scope: int


class Site(Struct, array_like=True, gc=False):
    """An occurrence of a name. `at` is its NAME, GET or IMPORT, or its CALL; `binding` what it binds, if it does."""

    line: int
    column: int
    name: int
    use: int
    at: int
    scope: int
    binding: int = NONE


Sites = NDArray[np.int32]  # a row for each number of a Site, a column for each site
SITE_NUMBERS = len(Site.__struct_fields__)
NAME, SITE_LINE, USE, AT, SCOPE, BINDING = map(
    Site.__struct_fields__.index, ("name", "line", "use", "at", "scope", "binding")
)


class Facts(Struct, array_like=True):
    """One file. `sites` are packed, as they are many: sites_of() reads them.

    `members` are functions that belong to a type which stands elsewhere: its expression, and a binding. `extensions`
    are scopes of such functions: the expression of the type, and the scope. `package` is what the file says it is a
    part of, `language` the one that it was read as, where that is another. `conditions` are the first and last lines of
    what a compiler may leave out, `replaced` the names of members that the file removes or sets by name, each with the
    expression of whose it is or -1, `augmented` what `a += b` may change, but for keys, `undefined` the names of
    macros that end in it, `#undef a`, `opening` those of macros that begin a namespace, and its path. `systems` are
    those on which it may be compiled, from a line on, where that changes (worker/systems.py), `constness` says of
    bindings of C++ whether what they hold is KEPT or CHANGED, `macro_made` what may be the class of a function that a
    macro makes, and its scope. Not `complete` where the text did not parse or was nested too deeply.
    """

    names: list[str]
    scopes: list[NameScope]
    expressions: list[Expression]
    bindings: list[Binding]
    imports: list[Imported]
    writes: list[Write]
    sites: memoryview  # of the packed facts, where they were unpacked: many, and not copied
    dynamic: list[tuple[int, str]]
    members: list[tuple[int, int]]
    extensions: list[tuple[int, int]]
    package: str
    complete: bool
    lines: int
    conditions: list[tuple[int, int]] = []
    language: str = ""
    replaced: list[tuple[int, int]] = []
    augmented: list[Augmented] = []
    taken: list[Consumed] = []
    undefined: list[int] = []
    opening: list[tuple[int, str]] = []
    systems: list[tuple[int, int]] = []
    constness: list[tuple[int, int]] = []
    macro_made: list[tuple[int, int]] = []


class GraphFile(NamedTuple):
    """A file with its facts, as FactsExtractor makes them, and its imports, as they were resolved."""

    path: str
    language: str
    facts: bytes | memoryview
    imports: Sequence[ImportRow]


def packed_sites(sites: Sequence[Site]) -> memoryview:
    """Return sites as numbers of four bytes, one after the other."""
    return memoryview(array("i", chain.from_iterable(map(astuple, sites)))).cast("B")


def sites_of(facts: Facts) -> Iterator[Site]:
    """Yield the sites of a file."""
    numbers = iter(facts.sites.cast("i"))
    return starmap(Site, zip(*[numbers] * SITE_NUMBERS, strict=True))


def site_columns(facts: Facts) -> Sites:
    """The sites of a file as a table."""
    return np.frombuffer(facts.sites, np.int32).reshape(-1, SITE_NUMBERS).T


packed = msgpack.Encoder().encode
unpacked = msgpack.Decoder(Facts).decode
