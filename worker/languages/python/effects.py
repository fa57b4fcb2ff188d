"""What calls of Python's own functions and methods do, by their full names: as much as a function's purity rests on.

A function that is in none of these tables may do anything. Operators, comparisons, conversions (`str(a)`, `len(a)`) and
iteration are taken to do nothing but that, unless a class of the project does more.
"""

from collections.abc import Sequence

BUILTIN = "builtins."


def words(text: str, before: str = "") -> frozenset[str]:
    """Return words as a set: `words("a b", "c.")` is `{"c.a", "c.b"}`."""
    return frozenset(before + word for word in text.split())


EXCEPTIONS = words(
    """
    ArithmeticError AssertionError AttributeError BaseException BufferError DeprecationWarning EOFError Exception
    FileExistsError FileNotFoundError FutureWarning IOError ImportError IndexError IsADirectoryError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError
    OSError OverflowError PendingDeprecationWarning PermissionError RecursionError ReferenceError RuntimeError
    RuntimeWarning StopAsyncIteration StopIteration SyntaxError SystemError TimeoutError TypeError UnboundLocalError
    UnicodeDecodeError UnicodeEncodeError UnicodeError UserWarning ValueError Warning ZeroDivisionError
    """,
    BUILTIN,
)
# No effect, and a result of their arguments alone: by module.
_PURE = {
    "builtins": """
        abs all any ascii bin bool bytes bytearray callable chr complex dict divmod enumerate filter float format
        frozenset hex int isinstance issubclass len list map max memoryview min object oct ord pow range repr
        reversed round set slice sorted str sum super tuple type zip
    """,
    "base64": "b16decode b16encode b32decode b32encode b64decode b64encode urlsafe_b64decode urlsafe_b64encode",
    "binascii": "crc32 hexlify unhexlify",
    "bisect": "bisect bisect_left bisect_right",
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "nullcontext suppress",
    "dataclasses": "field fields is_dataclass",
    "datetime": "timedelta",
    "decimal": "Decimal",
    "difflib": "get_close_matches",
    "enum": "auto",
    "fnmatch": "fnmatch fnmatchcase translate",
    "fractions": "Fraction",
    "functools": "partial reduce",
    "heapq": "merge nlargest nsmallest",
    "html": "escape unescape",
    "inspect": "cleandoc isclass isfunction ismethod ismodule",
    "io": "BytesIO StringIO",
    "itertools": """
        accumulate batched chain chain.from_iterable combinations compress count cycle dropwhile filterfalse
        groupby islice pairwise permutations product repeat starmap takewhile zip_longest
    """,
    "json": "dumps loads",
    "keyword": "iskeyword issoftkeyword",
    "math": """
        atan atan2 ceil comb copysign cos degrees dist erf exp fabs factorial floor fmod fsum gcd hypot inf isclose
        isfinite isinf isnan isqrt lcm ldexp log log10 log1p log2 modf nan perm pow prod radians sin sqrt tan trunc
    """,
    "operator": """
        add and_ attrgetter contains eq ge getitem gt index itemgetter le lt mod mul ne neg not_ or_ sub truediv
        truth xor
    """,
    "os": "fsdecode fsencode fspath",
    "os.path": "basename commonpath commonprefix dirname isabs join normcase normpath split splitdrive splitext",
    "pathlib": "PurePath PurePosixPath PureWindowsPath",
    "posixpath": "basename commonpath commonprefix dirname isabs join normcase normpath split splitdrive splitext",
    "re": "compile escape findall finditer fullmatch match search split sub subn",
    "shlex": "join quote split",
    "string": "capwords",
    "struct": "calcsize pack unpack unpack_from",
    "textwrap": "dedent fill indent shorten wrap",
    "typing": "NamedTuple TypeVar cast",
    "unicodedata": "bidirectional category combining east_asian_width name normalize",
    "urllib.parse": """
        parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode urljoin urlparse urlsplit urlunparse
        urlunsplit
    """,
    "zlib": "adler32 compress crc32 decompress",
}
PURE = EXCEPTIONS.union(*(words(names, f"{module}.") for module, names in _PURE.items()))

# Functions that call what they are given, by the place of that among their arguments; names of arguments for the same.
CALLING = {
    **dict.fromkeys(words("filter map", BUILTIN), 0),
    **dict.fromkeys(words("dropwhile filterfalse starmap takewhile", "itertools."), 0),
    **dict.fromkeys(words("accumulate groupby", "itertools."), 1),
    **dict.fromkeys(words("collections.defaultdict functools.partial functools.reduce"), 0),
    **dict.fromkeys(words("re.sub re.subn"), 1),
    "textwrap.indent": 2,
    "urllib.parse.urlencode": 5,
}
CALLING_WORDS = words("cls default default_factory func key object_hook object_pairs_hook parse_constant parse_float")
CALLING_WORDS |= words("parse_int predicate quote_via repl")

# What only watches: a program runs the same without it.
LOGGERS = words("logging.Logger logging.getLogger")
LOGGING = words("critical debug error exception fatal info isEnabledFor log warn warning")

# What reads or changes the world: functions, and modules of which everything does that is not among the pure.
IMPURE = words(
    "__import__ breakpoint compile delattr eval exec exit globals input next open print quit setattr", BUILTIN
)
IMPURE |= words("""
    datetime.date.today datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow io.open json.dump
    pickle.dump uuid.uuid1 uuid.uuid4
""")
IMPURE_MODULES = words("""
    asyncio atexit ctypes fcntl gc getpass glob http importlib locale mmap multiprocessing os pty queue random
    secrets select shutil signal socket sqlite3 ssl subprocess sys tempfile termios threading time tty
""")
NAMESPACES = words("globals locals vars", BUILTIN)  # what they give are the variables of a module or object
LOCAL_NAMESPACES = words("locals vars", BUILTIN)  # in a function, without arguments, they are its own variables
GLOBALS = words("__globals__ f_globals")  # attributes that are the variables of a module, as globals() is
TELLING = words("exec globals locals modules vars __dict__")  # what a file names that may change its names
READING_NAMES = words("__contains__ __getitem__ __iter__ __len__ copy get items keys values")  # change no name
READERS = words("all any dict iter len list print repr set sorted str tuple", BUILTIN)  # nor do these with a dictionary
PATCHING_METHODS = words("setattr delattr")  # of pytest's `monkeypatch`
SETTERS = {BUILTIN + name for name in PATCHING_METHODS}  # they set a name by its text, as do these methods
SETTING_METHODS = words("__setattr__ __delattr__")
BUILTINS = f"{BUILTIN}__builtins__"  # the module of that name, or its names
STATE = words("os.environ sys.argv sys.modules sys.path sys.stderr sys.stdin sys.stdout")

# Methods of types that are built in; those of MUTATING change the object.
_OF_SETS = words("copy difference intersection isdisjoint issubset issuperset symmetric_difference union")
_OF_TEXT = words("""
    capitalize center count endswith expandtabs find index isalnum isalpha isascii isdigit islower isspace istitle
    isupper join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition
    rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill
""")
METHODS = {
    "str": _OF_TEXT | words("casefold encode format format_map isdecimal isidentifier isnumeric isprintable"),
    "bytes": _OF_TEXT | words("decode hex"),
    "int": words("as_integer_ratio bit_count bit_length conjugate is_integer to_bytes"),
    "float": words("as_integer_ratio hex is_integer"),
    "list": words("copy count index"),
    "tuple": words("count index"),
    "dict": words("copy elements get items keys most_common values"),
    "set": _OF_SETS,
    "frozenset": _OF_SETS,
    "buffer": words("getvalue tell"),
}
IMMUTABLE = words("bytes float frozenset int str tuple")
MUTATING = {
    "list": words("append appendleft clear extend extendleft insert pop popleft remove reverse rotate sort"),
    "dict": words("clear move_to_end pop popitem setdefault subtract update"),
    "set": words("""
        add clear difference_update discard intersection_update pop remove symmetric_difference_update update
    """),
    "buffer": words("close read readline readlines seek truncate write writelines"),
}
# Methods whose names say that they change what they are called on, where no type is known.
CHANGING = words("append appendleft extend extendleft insert popitem popleft setdefault writelines")

# Of those that change an object, the ones that put something into it; it is their arguments, or something else.
PUTTING_ARGUMENTS = words("add append appendleft insert setdefault")
PUTTING = PUTTING_ARGUMENTS | words("extend extendleft symmetric_difference_update update")
CHANGING_NAMES = MUTATING["dict"] | words("__delitem__ __ior__ __setitem__")  # what they do to `vars(a)`, they do to a
# Words without which a file replaces nothing by a call.
SETTING = words("setattr delattr vars __dict__ patch __builtins__") | SETTING_METHODS

# Of what built-in type the results of functions and methods are; `list:str` is a list of strings.
GIVES = {
    **dict.fromkeys(words("ascii chr format hex repr str", BUILTIN), "str"),
    **dict.fromkeys(words("os.path.basename os.path.dirname os.path.join os.path.normpath re.escape re.sub"), "str"),
    **dict.fromkeys(words("json.dumps textwrap.dedent"), "str"),
    **dict.fromkeys(words("int len ord", BUILTIN), "int"),
    **{f"{BUILTIN}{name}": name for name in words("bytes dict float frozenset list set tuple")},
    **dict.fromkeys(words("collections.Counter collections.OrderedDict collections.defaultdict"), "dict"),
    **dict.fromkeys(words("builtins.sorted collections.deque"), "list"),
    **dict.fromkeys(words("io.BytesIO io.StringIO"), "buffer"),
}
_TEXTS = words("""
    capitalize casefold center expandtabs format format_map join ljust lower lstrip removeprefix removesuffix
    replace rjust rstrip strip swapcase title translate upper zfill
""")
GIVES_METHOD = {
    **{("str", name): "str" for name in _TEXTS},
    **{("str", name): "list:str" for name in words("partition rpartition rsplit split splitlines")},
    **{(of, "copy"): of for of in words("dict list set")},
    ("str", "encode"): "bytes",
    ("bytes", "decode"): "str",
    ("set", "union"): "set",
    ("set", "difference"): "set",
}
TYPES = {name: name.lower() for name in words("Dict List Set Tuple bytes dict float frozenset int list set str tuple")}

# Methods that a class has run unseen: where one with an effect may be, what may run it is not called pure.
UNSEEN = {
    "attribute": words("__getattribute__"),
    "class variable": words("__get__ __set_name__"),
    "text": words("__format__ __repr__ __str__"),
    "unknown attribute": words("__getattr__"),
    "iteration": words("__getitem__ __iter__ __len__ __length_hint__ __next__ __reversed__ keys"),
    "item": words("__class_getitem__ __delitem__ __getitem__ __missing__ __setitem__"),
    "instance": words("__class__ __instancecheck__ __subclasscheck__ __subclasshook__"),
    "exit": words("__exit__ __aexit__"),
    "operator": words("""
        __abs__ __add__ __and__ __bool__ __bytes__ __ceil__ __complex__ __contains__ __divmod__ __eq__ __float__
        __floor__ __floordiv__ __fspath__ __ge__ __getitem__ __gt__ __hash__ __iadd__ __iand__ __ifloordiv__
        __ilshift__ __imatmul__ __imod__ __imul__ __index__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__
        __iter__ __itruediv__ __ixor__ __le__ __len__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__
        __pos__ __pow__ __radd__ __rand__ __rdivmod__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__
        __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__
        __truediv__ __trunc__ __xor__
    """),
    "size": words("__len__"),
    "module": frozenset[str](),  # `__getattr__` of modules
    "property": frozenset[str](),  # whatever is read as an attribute, by what descriptors are there
    # a function that is written in Python calls methods of what it is given by their names: `html.escape(a)`
    "method": frozenset[str]().union(*METHODS.values(), *MUTATING.values(), words("__buffer__")),
}
ALL_KINDS = (*UNSEEN,)
DEEP = ("operator", "iteration", "text", "item", "instance", "method")

MAKING_TEXT = words("ascii dumps format format_map repr str")  # functions and methods that run those of "text"

# What single functions run of what they are given; the others run all of DEEP.
RUNS: dict[str, Sequence[str]] = {
    **dict.fromkeys(EXCEPTIONS | words("callable object super type", BUILTIN), ()),
    **dict.fromkeys(words("isinstance issubclass", BUILTIN), ("instance",)),
    **dict.fromkeys(words("enumerate filter list map reversed tuple zip", BUILTIN), ("iteration",)),
    **dict.fromkeys(words("ascii format repr str", BUILTIN), ("text",)),
    **dict.fromkeys(words("bool max min sorted", BUILTIN), ("operator", "iteration")),
    f"{BUILTIN}len": ("size",),
}
PLAIN = words("bytes float int str list:str")  # types of which all is built in, elements too
# They take all that their arguments give, if those are generators: functions, and methods of any type.
CONSUMING = words("all any bytes bytearray dict frozenset list max min set sorted sum tuple", BUILTIN)
CONSUMING |= words("Counter OrderedDict deque", "collections.") | words("merge nlargest nsmallest", "heapq.")
CONSUMING |= words("combinations combinations_with_replacement permutations product", "itertools.")
CONSUMING |= words("collections.namedtuple difflib.get_close_matches math.dist")
CONSUMING |= words("functools.reduce math.fsum math.prod shlex.join urllib.parse.urlencode")
CONSUMING |= words("join extend extendleft update union difference intersection issubset issuperset isdisjoint")
CONSUMING |= words("difference_update intersection_update symmetric_difference_update symmetric_difference")
TAKING = CONSUMING | words("enumerate filter map reversed zip", BUILTIN)  # what they give takes from what they got
TAKING |= words(_PURE["itertools"], "itertools.")
PAIRING = words("enumerate zip", BUILTIN)
PAIRING |= words("combinations pairwise permutations product zip_longest", "itertools.")
KEEPING = words("list reversed sorted tuple", BUILTIN)  # they give what they got
OF_ONE = words("max min", BUILTIN)  # with several arguments, they compare those
SHALLOW = words("bool enumerate isinstance len list range reversed tuple zip", BUILTIN)  # they leave elements alone
DESCRIPTORS = words("builtins.property functools.cached_property functools.partialmethod")
GETTERS = words("attrgetter itemgetter", "operator.")

# Decorators that run nothing else when the function is called, and classes that run nothing else when one is made.
DECORATORS = words("builtins.classmethod builtins.property builtins.staticmethod abc.abstractmethod typing.final")
DECORATORS |= words("functools.cache functools.cached_property functools.lru_cache functools.wraps typing.override")
CLASS_DECORATORS = words(
    "dataclasses.dataclass enum.unique functools.total_ordering typing.final typing.runtime_checkable"
)
BASES = words("""
    ABC ABCMeta BaseException Enum Exception Flag Generic IntEnum IntFlag NamedTuple Protocol StrEnum TypedDict
    bytes dict float frozenset int list object set str tuple
""")


def is_impure(full: str) -> bool:
    """Return whether something outside reads or changes the world: `is_impure("os.stat")`, but not "os.path.join"."""
    return full not in PURE and (full in IMPURE or full.partition(".")[0] in IMPURE_MODULES)
