"""What the graph must know of a language that no query says (docs/graph.md): the `[graph]` table of its row."""

from typing import Literal

from msgspec import Struct

from fledgling.worker.library import Library

Computing = Literal[
    "text", "names", "dictionary", "all", "member", "own", "named", "global", "listed", "reflected", "said"
]


class Dialect(Struct, frozen=True, forbid_unknown_fields=True):
    """The columns of `[graph]`: one that is not there is false or empty."""

    # How a file is read: the files of the query, and the repairs that it needs besides the language's own.
    rules: tuple[str, ...] = ()
    last_rules: tuple[str, ...] = ()  # files of it that only the last of the language's grammars knows
    repairs: tuple[str, ...] = ()

    # Which files see each other's names. `shared` are the files that do so without an import: those of a "directory" or
    # a "package", or just the "file"; languages of one `family` may use each other's. Names of namespaces stand in any
    # file: in "nested" `spaces` one sees those of the namespaces around it too, in "global" ones those of none.
    shared: str = ""
    family: str = ""
    spaces: Literal["", "flat", "global", "nested"] = ""
    inner_folders: tuple[str, ...] = ()  # what a file in one takes for all others holds below the folder around it
    takes_unseen: bool = False  # a project file may take all names of a namespace for all files
    crates: bool = False  # paths may begin with the name of a crate
    # How the names begin of files, or of modules that these import, which bring to all below them what others export.
    brings_names: tuple[str, ...] = ()
    exported: str = ""  # the variable that says which names `import *` takes: `__all__`; of two the last counts
    members_of_packages: bool = False  # only files of the package see what does not say that others do

    # How names are bound and found.
    sigil: str = ""  # variables begin with it; fields do not where they are used
    binds_in_order: Literal["", "variables", "members"] = ""  # these are there only after their declaration
    declares_variables: bool = False  # no assignment makes a variable
    declared: bool = False  # a definition may be elsewhere; what is not static is for all files
    for_systems: bool = False  # of what is there for several systems that of its own counts (worker/systems.py)
    in_any_case: bool = False  # a use may spell functions and classes in another case
    functions_apart: bool = False  # a name that stands alone and is only read means no function
    calls_methods: bool = False  # nothing but a method is called; without one, `a.b()` reads what a record has
    calls_last: bool = False  # `a ?: b<C>(d)` calls b, though the grammar takes it for a call of `a ?: b`
    bare_calls: bool = False  # a name that no scope binds is a call
    names_values: bool = False  # a function without a name gets that of what it is put into: `const a = () => b`
    made_names: bool = False  # a text whose ends are written out may name a member: `getattr(a, "visit_" + b)`
    changes: dict[str, int] = {}  # which argument a function changes that takes it by reference: `preg_match = 2`
    rebinds: tuple[str, ...] = ()  # what may give any variable of a function another value
    gives_last: bool = False  # a block gives what its last part does, and `if` what the block gives that has run
    gives_several: bool = False  # a function gives several values, each of the type that it declares: `(A, error)`
    loops_over_pairs: bool = False  # `for a, b := range c`: a is the key
    loops_over_entries: bool = False  # `for ((a, b) in c)` goes over pairs of a key and a value of a dictionary
    loops_over_keys: bool = False  # `for a in b` goes over the keys of a dictionary

    raises_classes: bool = False  # `raise A` makes an object of the class

    # Classes and their members.
    decorators: dict[str, str] = {}  # what they say of a function, by their last name: a Flag in lower case
    plain_fields: bool = False  # what a type declares is a field of all of its objects, whatever is put there
    hides_fields: bool = False  # a field hides one of its name in a class above, and is never in its place
    bare_members: bool = False  # a method names the members of its class without `this`
    says_inner: bool = False  # only a class that says so sees what an object of the class around has: `inner class`
    receiver_parameter: bool = False  # the first parameter of a method is the object
    class_receiving: tuple[str, ...] = ()  # but the class, of methods of these names
    keyed_members: bool = False  # `a["b"]` is the member b
    self_type: str = ""  # the name of the class around
    super_function: str = ""  # the function that gives the class above
    constructors: tuple[str, ...] = ()  # methods that run where an object is made
    own_constructors: bool = False  # which are not inherited
    reopens: bool = False  # several places may make up a class
    embeds: bool = False  # what a class stands on is a field of it as well, and one less deep goes before
    structural: bool = False  # a class implements an interface by having its methods
    structural_bases: tuple[str, ...] = ()  # of classes which others are of that have their methods: `Protocol`
    prototypes: bool = False  # a function but a lambda has a `this`, and may make objects with what its prototype has
    variables: tuple[str, ...] = ()  # what gives the members of an object by keys: `vars(a)`, `a.__dict__`
    operators: dict[str, str] = {}  # the methods that operators call, by their signs
    prefixes: dict[str, str] = {}  # likewise of operators before their operand: `!a`
    calling: dict[str, str] = {}  # which method such a one calls where the class has none of its own: `ne` calls `eq`
    loops_run: tuple[str, ...] = ()  # what gives a loop its iterator, and what that gives an element by
    adds_functions: bool = False  # `a += b` may add a function to those that a runs
    signs: frozenset[str] = frozenset()  # operators that call the methods whose names they are: `a << b`, `a[b]`
    runs: dict[str, str] = {}  # the methods that functions of the language call on what they get: `len` calls `__len__`
    # What "calls" the method that its first argument names, or "gives" it, "runs" the object, gives its "class", the
    # one "above" a class, its "children" or all "below" it, or the "same" object; what "taps" or "yields" hands that to
    # a block, and "yields" its result; "starts" a function elsewhere or later,
    # or a method of an object of a class, of that name: ".perform".
    sending: dict[str, str] = {}
    # An expression of the functions to which a class hands names of its methods, and the keys of any that do likewise.
    names_methods: str = ""
    keys_of_methods: frozenset[str] = frozenset()
    # What calls declare methods, by what they call: of another object, "delegated", "forwarded" or "forwarded_as", of
    # "one" object of a class or "many", by their name, or what a "block" gives;
    # what is "described" is the class that a block is handed beside.
    declaring: dict[str, str] = {}
    # Functions that give "one" object, or "many", of the class that is called as a symbol is: `create(:user)`.
    factories: dict[str, str] = {}
    unnamed: str = ""  # an expression of the names of methods that code runs without them: `__add__` by `a + b`
    by_parameter: str = ""  # an expression of what stands above a function that parameters of its name are given
    fixture: str = ""  # the decorator of a function whose result parameters of its name get, where a test takes them
    fixture_file: str = ""  # the file whose fixtures those beside it and below see: `conftest.py`
    takes_fixtures: str = ""  # how names of functions begin that get them, besides fixtures
    varies: str = ""  # the decorator that names parameters which get other values
    # Decorators that give the first parameters what they make, if they get no more arguments than so many.
    fills: dict[str, int] = {}
    without_fixtures: str = ""  # how the name of a class ends whose tests, and those of what is below it, get none
    names_fixtures: frozenset[str] = frozenset()  # functions whose arguments are names of fixtures
    tests: str = ""  # an expression of what stands above a module of tests, or in its first lines: `#[cfg(test)]`
    inert: str = ""  # an expression of what stands above a definition and hands it to nobody: `@Override`
    absent_methods: tuple[str, ...] = ()  # what runs in the place of one that a class lacks; the first, of an object
    holding_own: frozenset[str] = frozenset()  # what holds all objects of a class, by a class outside: `A.objects`
    # What ends the name that the other side of a relation gets by default, by the call; if empty, that is one object.
    other_side: dict[str, str] = {}
    query_scope: str = ""  # how a method begins that queries run by the rest of its name: `scopeRecent` by `recent()`
    absent_properties: str = ""  # what gives a property that a class lacks, which may ask a method of its name
    # Names of the language by which names are computed as a program runs (rows/computed.py).
    computing: dict[str, Computing] = {}
    reflecting: frozenset[str] = frozenset()  # types outside whose objects know the members of a class
    texts_name_classes: bool = False  # a text has the members of the class that it names
    says_overrides: bool = False  # what does not say so overrides nothing
    constant_methods: bool = False  # they say that they leave their object as it is: `int a() const`
    says_virtual: bool = False  # what no class calls virtual is overridden only by what says that it overrides
    plain_bases: tuple[str, ...] = ()  # classes outside without members to speak of
    enumerations: tuple[str, ...] = ()  # bases, with their modules: what a class below binds are objects of it
    pastes: str = ""  # what a macro makes names of parts by: `##`
    macros: frozenset[str] = frozenset()  # what these get are surely expressions; what others get that reads so, likely
    unwrapping: frozenset[str] = frozenset()  # macros that give what their argument holds
    outside_methods: dict[str, tuple[str, ...]] = {}  # all methods of some interfaces outside
    protocols: frozenset[str] = frozenset()  # types outside that any class of the project may be of

    # Which function of several a call means. It takes the arguments, by their number and types: one of "all" in a
    # class and above it, or of the "nearest" class that has one.
    overloads: bool = False  # all definitions of a name count, and not the last alone
    selects: Literal["", "all", "nearest"] = ""
    packages_of_all: frozenset[str] = frozenset()  # whose functions all files see without an import
    prelude: frozenset[str] = frozenset()  # functions outside that a call means where no other takes its arguments
    converts: bool = False  # a class makes an object of an argument by a constructor; a template takes any as it is
    outward: bool = False  # where no function of a class takes the arguments, those further out are asked
    rest_is_last: bool = False  # one that takes any number of arguments is meant only where no other takes them
    spreads_arrays: bool = False  # an array is all that a parameter takes which takes several only by a sign: `f(*a)`
    delegates: dict[str, int] = {}  # types of functions: how many of their type arguments are no parameters, `Func = 1`
    invoking: frozenset[str] = frozenset()  # methods by which what is of such a type is called: `apply`
    invariant: frozenset[str] = frozenset()  # types outside that fit only where their type arguments are the very same
    types_apart: bool = False  # classes and functions of one name may have other numbers of type parameters
    implicit_parameter: str = ""  # of a lambda without parameters, which may have a receiver
    scope_functions: dict[str, str] = {}  # what a lambda gets, "it" or "this", and the call gives: `let = "it result"`

    # Types.
    typed: bool = False  # they are declared
    may_lack_types: bool = False  # but need not be: `f($a)`, `a: any`
    smart_casts: bool = False  # where a check of its type holds, a variable counts as declared to be of that
    types_inside: bool = False  # a parameter may be of a type that the function itself declares
    extension_block: str = ""  # what begins a block of members that extend a type: `extension(A a) { }`
    types_before: bool = False  # its type parameters stand before it: `template <class T>`
    only_declared: tuple[str, ...] = ()  # types that no call and no literal is of: `va_list`
    literals: dict[str, str] = {}  # of numbers by their ends, "." of one with a point, "class" of what names a class
    numbers: dict[str, int] = {}  # that one which is written out may be of; the larger the number here, the sooner
    texts: dict[str, int] = {}  # likewise
    like_texts: set[str] = set()  # the types that what is taken for a text may be of instead: `:a` of Ruby
    of_all: tuple[str, ...] = ()  # types that all of these are of: `Any`
    of_classes: tuple[str, ...] = ()  # types that classes are of: `Module`
    value_types: frozenset[str] = frozenset()  # of these and of numbers, `A?` is another type than `A`
    widens: dict[str, tuple[str, ...]] = {}  # types that what is of one fits as well
    boxes: dict[str, str] = {}  # the class in whose place a plain type may stand
    type_aliases: dict[str, str] = {}  # other names of types
    spellings: dict[str, str] = {}  # what other languages of the family call them
    fields: dict[str, str] = {}  # of what is known: of what type, `size = "=Int"`, or how it hands on what it holds
    holding: dict[str, str] = {}  # types outside, and of what type what they hold is: `ByteArray = Byte`
    sums: tuple[str, ...] = ()  # of what two numbers make, the type: the first that one of them has, or the last
    first_of_tuple: str = ""  # the name of the first field of a tuple, which ends in its number: `Item1`, `0`
    pointers: tuple[str, ...] = ()  # types and functions: what they point to is behind `->` and `*`
    casts: tuple[str, ...] = ()  # functions that give the type in their brackets
    parses: tuple[str, ...] = ()  # that give, if all is well, an object of the type in their brackets: `a.parse::<B>()`
    lends: tuple[str, ...] = ()  # types of containers that have all that what they hold has: `Data<A>`
    attribute_ends: str = ""  # what the name of an attribute may lack at its end: `[A]` is an AAttribute
    keyed_types: tuple[str, ...] = ()  # that say what `{ [a: string]: B }` does, and `{ [A in keyof B]: C }`
    infers_new: bool = False  # `new()` may make an object of a type that is not written
    typed_keys: dict[str, int] = {}  # types may be quoted; how many keys of one are types, where not all: `Literal = 0`
    typed_arguments: dict[str, tuple[str, ...]] = {}  # of functions of `typed_modules`, which are types: `cast = ["0"]`
    typed_modules: tuple[str, ...] = ()
    # Comments say types where none is declared, or one of these, in lower case, of which a comment may say more.
    told_types: frozenset[str] = frozenset()
    both_hold: bool = False  # what stands before `&&` holds behind it: `a instanceof B && a.c()`
    refutes: bool = False  # where `if (!a instanceof B)` ends a function, a is a B behind it
    told_ends: tuple[str, ...] = ()  # what may follow the path of a file that only a comment names
    told_in: str = ""  # they do where nothing else tells what something is: "braces", `@param {A} b`, or "brackets"

    # What is outside the project, by its last name: how it hands on what it gets, `Optional = "same"`, `map = "maps"`,
    # `append = "adds"`, and what type it gives, `toString = "=String"`.
    types: dict[str, str] = {}
    functions: dict[str, str] = {}
    library: Library | None = None  # what it says of its classes: the text of which the row has the name
    methods: dict[str, str] = {}
    # What is not known may be of the class that alone has all members that it is asked for: "everywhere" that it gets
    # to, or only "there", in the function that asks.
    by_members: str = ""
    universal: frozenset[str] = frozenset()  # what any object has, which tells nothing of it
    derived: frozenset[str] = frozenset()  # give an object of the class that is asked and has none: `a.clone()`
    says_derived: bool = False  # only a class that says so has these: `data class`
    payloads: dict[str, int] = {}  # of variants outside: which type argument it holds, if not the first, `Err = 1`
    instantiates: bool = False  # what takes types in brackets reads as a container: `f[A]()`
    applies_bases: bool = False  # what a class applies one above it to tells what that one's type parameters stand for
    gives_applied: bool = False  # what is outside gives what it is applied to, `Mock<A>`, where that has what is asked
    of_promises: tuple[str, ...] = ()  # methods of what will give an object, which stands for it: `a.then(f)`
    behind: str = ""  # the type that a class names behind its objects, which have its members too: `Target` of Deref
    items: str = ""  # the type that a class names of what going over its objects gives: `Item` of Iterator
    called_by: str = "__call__"  # the method that runs where an object is called
    common: frozenset[str] = frozenset()  # never guessed by the name alone: built-in types have one too

    @property
    def declares_all_types(self) -> bool:
        """Whether types are declared, and always are."""
        return self.typed and not self.may_lack_types

    def is_plain(self, type_: str) -> bool:
        """Whether a type is that of numbers, texts or the like, or the box of one."""
        type_ = type_.removesuffix("?")
        of_values = type_ in self.numbers or type_ in self.value_types or type_ in self.texts
        return of_values or type_ in self.widens or type_ in self.boxes or type_ in self.boxes.values()
