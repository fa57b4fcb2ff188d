"""Which functions have no effect: each of a marked text says in its first line what it is, and part of why."""

import re

import pytest
from costing import costs_under

from fledgling.worker.graph.effects.purity import judged
from fledgling.worker.graph.effects.replaced import MAX_WAYS
from fledgling.worker.graph.reading.facts import FactsExtractor
from fledgling.worker.graph.resolve import resolved
from fledgling.worker.graph.solving.budget import GraphBudget
from fledgling.worker.graph.tables import GraphFile
from fledgling.worker.languages.table import load_languages
from fledgling.worker.rows import ImportRow

LANGUAGES = load_languages()
FACTS = FactsExtractor(LANGUAGES)
MARK = re.compile(r"#: (?P<purity>pure-ish|pure|impure|unknown)(?: (?P<why>.*))?$")

OWN_EFFECTS = """
import json, logging, os, random, re, sys
from os import environ as surroundings
from lazily import lazy
from collections import defaultdict
from dataclasses import dataclass
log = logging.getLogger(__name__)
CACHE = {}
COUNT = 0
FIXED = {"a": 1}
MAKERS = []

def adds(a, b): return a + b                                   #: pure no effect, and it calls nothing
def strips(a: str): return a.strip().upper()                   #: pure (2 called)
def splits(a: str): return [b.strip() for b in a.split(",")]   #: pure
class Held:
    @lazy
    def value(self): print(1)                                  #: impure calls print
def reads_lazily(a: Held): return a.value                      #: impure
MANY = []
def changes_by_another_name(b):                                #: impure
    a = [0]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = [1]
    if b: a = MANY
    a.append(1)
def many(): return len(MANY)                                   #: impure reads MANY
def home(): return surroundings["HOME"]                        #: impure reads os.environ
def parses(a): return json.loads(a, parse_constant=print)      #: unknown hands over print
def of_optional(a: "str | None"): return a and a.lower()       #: pure
def of_unknown(a): return a.strip()                            #: unknown calls a.strip, which is not known
def given(f): return f()                                       #: unknown calls f
def joins(a): return os.path.join(a, "b")                      #: pure
def asks_disk(a): return os.path.exists(a)                     #: impure calls os.path.exists
def environment(): return os.environ["A"]                      #: impure reads os.environ
def rolls(): return random.random()                            #: impure calls random.random
def says(a): print(a)                                          #: impure calls print
def logs(a): log.info("%s", a)                                 #: pure-ish calls log.info
def sorts(a: list): return sorted(a, key=lambda b: b[0])       #: pure
def sorts_by(a, f): return sorted(a, key=f)                    #: unknown hands over f
def maps(f, a): return map(f, a)                               #: unknown hands over f
def maps_known(a: list): return [str(b) for b in a]            #: pure
def replaces(f, a): return re.sub("a", f, a)                   #: unknown hands over f
def unpacks(a, b): return max(a, **b)                          #: unknown hands over b
def raises(a): raise ValueError(a)                             #: pure
def reads_fixed(a): return FIXED[a]                            #: pure
def reads_cache(a): return CACHE.get(a)                        #: impure reads CACHE, which a function changes
def no_such(a): return not_defined_anywhere(a)                 #: unknown calls not_defined_anywhere

def fills(a):                                                  #: impure CACHE
    CACHE[a] = 1
def counts():                                                  #: impure COUNT
    global COUNT
    COUNT += 1
def registers(a):                                              #: impure MAKERS
    MAKERS.append(a)
def builds(a: list):                                           #: pure
    b = []
    for c in a:
        b.append(c)
    b[0] = 1
    del b[0]
    return b
def groups(a):                                                 #: pure
    b = {}
    b["a"] = a
    return b
def fills_argument(a):                                         #: impure writes a[...]
    a[0] = 1
def adds_to_argument(a):                                       #: impure writes a[...]
    a[0] += 1
def removes_from_argument(a):                                  #: impure writes a
    del a["b"], a.c
def sets_argument(a):                                          #: impure writes a.b
    a.b = 1
def perhaps_argument(a):                                       #: impure writes b[...]
    b = a or []
    b[0] = 1
def words(**a):                                                #: pure
    a["b"] = 1
    return a
def appends(a): a += [1]                                       #: unknown may change the object that a is
def joins_set(a: set): a |= {1}                                #: impure changes a, which it did not make
def extends_part(a):                                           #: unknown may change the object that b is
    b = a.items
    b += [1]
def sums(a: list):                                             #: pure
    b, c, d, e = 0, "", [], 0.5
    for f in a:
        b += f
        b += 1
        c += "a"
        d += [f]
        e += f
    return b, c, d, e
def sums_or(a, b):                                             #: unknown may change the object that c is
    c = 0
    if a:
        c = b
        c += 1
    c += 1
def counts_down(a: int):                                       #: pure
    a -= 1
    return a
def default(a=[]): a.append(1)                                 #: impure
def outer():                                                   #: pure
    seen = []
    def inner(a):                                              #: impure reads seen, which a function changes
        seen.append(a)
    return inner
def counter():                                                 #: pure
    count, step, kept = 0, 1, []
    def increases():                                           #: impure count
        nonlocal count
        count += 1
    def keeps(a): kept.append(a)                               #: impure kept
    def reads_count(): return count                            #: impure reads count, which a function changes in line
    def reads_kept(): return len(kept)                         #: impure reads kept
    def reads_step(): return step                              #: pure
def in_loop(a: list):                                          #: pure
    c = d = 1
    for b in a:
        def reads(): return b                                  #: unknown reads b, which the function around may change
        def calls(): return b + c                              #: unknown reads b
        def reads_other(): return c                            #: pure
        def reads_twice(): return d                            #: unknown reads d
        d = 2
def imports():                                                 #: unknown imports json, which runs a module
    import json
    return json
def enters(a):                                                 #: unknown enters a
    with a:
        pass
async def waits(a):                                            #: unknown runs as a coroutine
    return await a
"""

WHOM_IT_CALLS = """
import abc, enum, functools, typing
from dataclasses import dataclass, field
import requests

class Plain:
    def __init__(self, a: int):                                #: pure
        self.a = a
        self.a += 1
    @property
    def clock(self):                                           #: impure calls print
        print(self.a)
    def own(self): return self.twice(self.a)                   #: pure
    def twice(self, a): return a * 2                           #: pure
    def overridden(self): return 1                             #: pure
    def calls_overridden(self): return self.overridden()       #: unknown calls self.overridden, which may be another
    def reads_clock(self): return self.clock                   #: impure calls clock, which is impure
    def again(self): self.__init__(1)                          #: impure of what it did not make
    def sets(self, a): self.a = a                              #: impure writes self.a
class Appends:
    rows = []
    def __init__(self, a):                                     #: unknown may change the object that self.rows is
        self.rows += a
class AppendsGiven:
    def __init__(self, a):                                     #: unknown may change the object that
        self.a = a
        self.a += [1]
class Named:
    def __init__(self, a):                                     #: pure
        self.title = a
    def shown(self): return self.title                         #: pure
    def renames(self, a): self.title = a                       #: impure
class Below(Plain):
    def overridden(self): return 2                             #: pure
class Beside:
    def of_either(self): print(1)                              #: impure
class Under:
    def of_either(self): return 1                              #: pure
    def calls_either(self): return self.of_either()            #: unknown calls self.of_either, which may be another
class OfBoth(Beside, Under): pass
class Remote(requests.Session):
    pass
@dataclass
class Data:
    a: int
@dataclass
class Checked:
    a: int
    def __post_init__(self):                                   #: impure calls print
        print(self.a)
class Failed(Exception):
    def __init__(self, a):                                     #: pure
        super().__init__(a)
class Kept(requests.Dict[str, int]):
    def __init__(self, a):                                     #: unknown calls ....__init__
        super().__init__(a)
class MakesOther(Named):
    def __init__(self, a): Named.__init__(a)                   #: impure calls Named.__init__ of what it did not make
class MakesOwn(Named):
    def __init__(self, a): Named.__init__(self, a)             #: pure
class BecomesOther:
    def __init__(self, a):                                     #: unknown sets __dict__
        self.__dict__ = a
        self.a = 1
class Colours(enum.Enum):
    RED = 1
    @classmethod
    def _missing_(cls, a): print(a)                            #: impure
class Abstract(abc.ABC):
    @abc.abstractmethod
    def a(self): ...                                           #: unknown is abstract
class Made:
    def __new__(cls, a):                                       #: unknown
        return super().__new__(cls)

def impure(): print()                                          #: impure calls print
def calls_impure(): return impure()                            #: impure calls impure, which is impure
def calls_that(): return calls_impure()                        #: impure calls calls_impure, which is impure
def makes_plain(a): return Plain(a)                            #: pure
def makes_remote(): return Remote()                            #: unknown whose base class Session is outside
def finds_colour(): return Colours(5)                          #: unknown which has a _missing_ of its own
def makes_other(a): return MakesOther(a)                       #: impure
def makes_data(): return Data(1)                               #: pure
def makes_checked(): return Checked(1)                         #: impure calls __post_init__
def makes_made(): return Made(1)                               #: unknown calls Made, which may be another
def fails(): raise Failed("a")                                 #: pure
def goes_round(a): return comes_back(a) if a else 0            #: pure
def comes_back(a): return goes_round(a - 1)                    #: pure
def unknown_clock(a): return a.clock                           #: unknown may run clock
def asks_out(a): return requests.get(a)                        #: unknown calls requests.get
@functools.lru_cache
def keeps(a): return a                                         #: pure
@requests.decorator
def decorated(a): return a                                     #: unknown is decorated by requests.decorator
def calls_decorated(a): return decorated(a)                    #: unknown calls decorated
def hands_on(f): return f                                      #: pure
"""


def purity_of(text, language="python"):
    """Return what the functions of one file are, by line."""
    stdlib = (
        "abc builtins collections contextlib dataclasses enum functools html itertools json logging math operator os "
        "random re string sys textwrap typing"
    )
    imports = [
        ImportRow(line, module, None, False, module in stdlib.split(), None, ())
        for line, said in enumerate(text.splitlines(), 1)
        for module in re.findall(r"\w+", said.partition("import ")[2] if said.startswith("import") else "")
        + re.findall(r"^from (\w+)", said)
        + re.findall(r"^    import (\w+)", said)
    ]
    files = [GraphFile("a.py", language, FACTS.facts_of(language, text.encode()), imports)]
    graph = resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows)
    return {row.line: row for row in judged(files, graph)}


def unlike_marks(text, row_of):
    """Return the definitions that are not what their marks say, with what they are."""
    wrong = []
    for line, said in enumerate(text.splitlines(), 1):
        if mark := MARK.search(said):
            row = row_of(line)
            if row.purity != mark["purity"] or (mark["why"] or "") not in row.purity_reason:
                wrong.append((said.split("#:")[0].strip(), row.purity, row.purity_reason))
    return wrong


UNSEEN = """
class Adding:
    def __add__(self, a):                                      #: impure
        print(a)
    def __iadd__(self, a):                                     #: impure
        print(a)
class Texts:
    def __str__(self): print(1)                                #: impure
class Context:
    def __enter__(self): return self                           #: pure
    def __exit__(self, *a): print(a)                           #: impure
class Asking:
    def __getattr__(self, a): print(a)                         #: impure
class Reading:
    def __get__(self, a, b): print(a)                          #: impure
class Holding:
    held = Reading()
class Counting:
    def __next__(self): print(1)                               #: impure
    def __iter__(self): return self                            #: pure
class Above:
    def __init_subclass__(cls): print(1)                       #: impure
class Static:
    @staticmethod
    def says(): print(1)                                       #: impure
class Meta(type):
    pass
class Made(metaclass=Meta):
    pass
GONE = 1

def makes_made(): return Made()                                #: unknown has a metaclass
def derives_made(f):                                           #: unknown derives a class
    class Inner(
        metaclass=f
    ):
        pass
def adds(a, b): return a - b                                   #: unknown may run __add__, which is impure
def compares(a, b: list): return a in b                        #: unknown may run __add__
def asks(a, b): return a if b else 1                           #: unknown may run __add__
def branches(a):                                               #: unknown may run __add__
    if a:
        return 1
def formats(a): return f"{a}"                                  #: unknown may run
def with_percent(a): return "%s" % a                           #: unknown may run
def formats_by_method(a): return "{}".format(a)                #: unknown may run
def converts(a): return str(a)                                 #: unknown may run
def converts_text(a: str): return len(a)                       #: pure
def in_lambda(): return lambda a: a + 1                        #: unknown may run __add__
def passes(a): return converts(a)                              #: unknown calls converts
def augments(a: Adding): a += 1                                #: unknown may change the object that a is
def enters():                                                  #: unknown may run __exit__
    with Context():
        pass
def reads(a): return a.b                                       #: unknown may run __get
def reads_held(): return Holding().held                        #: unknown may run __get__
def iterates(a):                                               #: unknown which may be a file or a generator
    for b in a:
        pass
def iterates_texts(a: list[str]):                              #: pure
    for b in a:
        pass
def comprehends(a): return [b for b in a.items()]              #: unknown calls a.items
def takes_apart(a: list):                                      #: unknown may run __next__
    b, c = a
    return b
def swaps(a, b):                                               #: pure
    a, b = b, a
    return a
def spreads(a): return [*a]                                    #: unknown spreads what may be a file
def yields_from(a): yield from a                               #: unknown spreads what may be a file
def derives():                                                 #: unknown derives a class as it runs
    class Below(Above):
        pass
def of_class(): return Static.says()                           #: impure
def removes():                                                 #: impure
    global GONE
    del GONE
def gone(): return GONE                                        #: impure reads GONE
def rebinds_in_loop():                                         #: impure
    global GONE
    for GONE in ():
        pass
def walrus():                                                  #: impure
    global GONE
    return [GONE := 1 for a in "a"]
def asserts(a):                                                #: impure calls print
    assert a, print(a)
def returns_self(a): return a                                  #: pure
def makes(): return [1]                                        #: pure
def yields(a): yield a                                         #: pure
def hands_on(f, a): return f(a)                                #: unknown calls f
def decorates():                                               #: impure calls print
    def inner(a=print(1)):                                     #: pure
        pass
"""

ONLY_LOGS = """
import logging
log = logging.getLogger(__name__)
class Noisy:
    def __add__(self, a):                                      #: pure-ish calls log.info
        log.info("a")
        return 1
    def __str__(self):                                         #: pure-ish
        log.info("a")
        return ""
    @property
    def title(self):                                           #: pure-ish
        log.info("a")
        return 1
    def __getattr__(self, a):                                  #: pure-ish
        log.info("a")
    def __getitem__(self, a):                                  #: pure-ish
        log.info("a")
    def __enter__(self): return guess(self)                    #: unknown calls guess
    def __call__(self): return guess(self)                     #: unknown calls guess
class Still:
    def __len__(self): return 1                                #: pure
def adds(a, b): return a + b                                   #: pure-ish may run __
def counts(a): return len(a)                                   #: pure
def makes_text(a): return str(a)                               #: pure-ish may run __str__
def says(a): log.info("%s", a)                                 #: pure-ish
def reads(a): return a.b                                       #: pure-ish may run __getattr__
def reads_title(a): return a.title                             #: pure-ish may run title
def passes(a): return reads_title(a)                           #: pure-ish calls reads_title
def takes(a): return a[0]                                      #: pure-ish may run __
def cuts(a): return a[1:2]                                     #: pure-ish may run __
def matches(a):                                                #: pure-ish may run
    match a:
        case Still(): return 1
"""

NEVER_NAMED = """
import functools, html, operator
class Texts:
    def _say(self): print(1)                                   #: impure
    __str__ = _say
    label = property(_say)
    kept = functools.cached_property(_say)
    @property
    def own(self): print(1)                                    #: impure
    other = own
    def reads(self): return self.label                         #: unknown which may be made as it is read
    def reads_other(self): return self.other                   #: unknown may run own
class Later: pass
Later.__len__ = lambda self: print(1)
Later.late = property(lambda self: print(1))
class Gone:
    def __del__(self): print(1)                                #: impure
class GoneToo(Gone): pass
class Setter:
    def __set__(self, a, b): print(1)                          #: impure
class Setting:
    field = Setter()
    def __init__(self, a): self.field = a                      #: unknown sets field, which may run a method
class Worded(str):
    def strip(self): print(1)                                  #: impure
class Counted:
    seen = 0
    @classmethod
    def counts(cls): cls.seen = 1                              #: impure
    def replace(self, a, b): print(a)                          #: impure
    def __class_getitem__(cls, a): print(a)                    #: impure
    def __hash__(self): print(1)                               #: impure
def makes_text(a): return f"{a}"                               #: unknown may run
def reads_kept(a): return a.kept                               #: unknown which may be made
def reads_late(a): return a.late                               #: unknown which may be made
def counts(a): return len(a)                                   #: unknown may run __len__, which is not known
def makes_gone(): GoneToo()                                    #: unknown which has a __del__ of its own
def strips(a: str): return a.strip()                           #: unknown calls a.strip
def reads_seen(): return Counted.seen                          #: impure reads seen, which a function changes
def escapes(a): return html.escape(a)                          #: unknown may run
def of_type(): return Counted[int]                             #: unknown may run __
def in_set(a): return {a}                                      #: unknown may run __
def in_keys(a): return {a: 1}                                  #: unknown may run __
def gets_all(a: list): return [*map(operator.attrgetter("own"), a)] #: unknown
def makes_class(a): return type("A", (a,), {})                 #: unknown makes a class
"""

TAKES = """
import collections, difflib, itertools, json, math, os, textwrap, urllib.parse
def of_file(a): return [b for b in a]                          #: unknown iterates over a, which may be a file
def of_list(a: list): return [b for b in a]                    #: pure
def of_own(a): return [b for b in [a, 1]]                      #: pure
def of_range(a: int): return [b for b in range(a)]             #: pure
def of_places(a: list): return [b for b in enumerate(a)]       #: pure
def of_places_of(a): return [b for b in enumerate(a)]          #: unknown iterates over enumerate(...)
def of_pairs(a: dict): return [b for b in a.items()]           #: pure
def of_chain(a): return [b for b in itertools.chain(a)]        #: unknown iterates over
def same(a): return a                                          #: pure
def of_same(a): return [b for b in same(a)]                    #: unknown iterates over same(...)
def sums(a): return sum(a)                                     #: unknown takes from a
def resembles(a): return difflib.get_close_matches("b", a)     #: unknown calls difflib
def crosses(a): return itertools.product(a, [1])               #: unknown takes from a
def picks(a): return itertools.combinations(a, 2)              #: unknown takes from a
def orders(a): return itertools.permutations(a)                #: unknown takes from a
def crosses_known(a: list): return itertools.product(a, [1])   #: pure
def names_fields(a): return collections.namedtuple("B", a)     #: unknown takes from a
def distance(a): return math.dist(a, [1])                      #: unknown takes from a
class Counts:
    def ticked(self, a):                                       #: impure writes self.n
        self.n += 1
        return a
    def adds_up(self, a: list):                                #: unknown
        return itertools.accumulate(a, func=self.ticked)
    def parses(self, a: str):                                  #: unknown
        return json.loads(a, parse_constant=self.ticked)
    def indents(self, a: str):                                 #: unknown
        return textwrap.indent(a, "", self.ticked)
    def indents_some(self, a: str):                            #: unknown
        return textwrap.indent(a, "", predicate=self.ticked)
    def encodes(self, a: dict):                                #: unknown
        return urllib.parse.urlencode(a, quote_via=self.ticked)
def reduces_by(a: list, b): return itertools.accumulate(a, func=b)  #: unknown
def joins(a): return ",".join(a)                               #: unknown takes from a
def joins_known(a: list[str]): return ",".join(a)              #: pure
def extends(a):                                                #: unknown takes from a
    b = []
    b.extend(a)
    return b
def greatest(a, b): return max(a, b)                           #: pure
def within(a): return 1 in a                                   #: unknown takes from a, which may be a file
def without(a): return 1 not in (a)                            #: unknown takes from a
def within_own(a): return 1 in (a, 2) and 2 in a[1:]           #: pure
def within_known(a: dict): return a in a                       #: pure
def takes_apart(a):                                            #: unknown takes from a
    b, c = a
def takes_first(a):                                            #: unknown takes from a
    b, *c = a
def takes_words(a: str):                                       #: pure
    b, *c = a.split(",")
    d, e = b, c
def takes_pairs(a: dict):                                      #: pure
    for b, c in a.items(): pass
    for d, e in sorted(enumerate(a)): pass
def takes_elements(a: list):                                   #: unknown takes from ...
    for b, c in a: pass
def takes_written(): return [b for b, c in ((1, 2), (3, 4))]   #: pure
def takes_in_loop(a: list): return [b for b, c in a]           #: unknown takes from ...
def adds_to_own(a):                                            #: unknown takes from a
    b = []
    b += a
def adds_known(a: list):                                       #: pure
    b = []
    b += a
    b += [1]
def puts_in_slice(a):                                          #: unknown takes from a
    b = [1]
    b[:] = a
def puts_known_in_slice(a: list):                              #: pure
    b = [1]
    b[1:] = a
def spreads_in_lambda(a): return sorted([1], key=lambda b: max(*a)) #: unknown spreads what may be a file
def greatest_of(a): return max(a)                              #: unknown takes from a
"""

HOLDS = """
import collections
def changes_held(a):                                           #: unknown may change the object that b[...] is
    b = [a]
    b[0] += [1]
def of_copy(a: list):                                          #: unknown may change the object that b[...] is
    b = list(a)
    b[0] += [1]
def of_loop(a: list):                                          #: unknown
    b = [c for c in a]
    b[0] += [1]
def of_words(**a):                                             #: unknown may change the object that a[...] is
    a["b"] += [1]
def put_later(a):                                              #: unknown
    b = []
    b.append(a)
    b[0] += [1]
def put_behind_key(a):                                         #: unknown
    b = {}
    b["c"] = a
    b["c"] += [1]
def put_by_word(a):                                            #: unknown
    b = dict(c=a)
    b["c"] += [1]
def put_all(a: list):                                          #: unknown
    b = []
    b.extend(a)
    b[0] += [1]
def put_by_another_name(a):                                    #: unknown
    b = []
    c = b
    c.append(a)
    b[0] += [1]
def of_sum(a):                                                 #: unknown
    b = collections.deque([a])
    b[0] += [1]
def of_factory(f):                                             #: unknown
    b = collections.defaultdict(f)
    b[0] += [1]
def counts(a: list[str]):                                      #: pure
    b, d = {}, collections.defaultdict(int)
    for c in a:
        b[c] = 0
        b[c] += 1
        d[c] += 1
    return b, d
def gathers(a: list[str]):                                     #: pure
    b, d = [[], []], collections.defaultdict(list)
    for c in a:
        b[0] += [c]
        d[c] += [c]
    return b, d
def takes(a):                                                  #: unknown takes from a
    b = [[]]
    b[0] += a
def put_in_slice(a):                                           #: unknown may change the object that b[...] is
    b = [[]]
    b[0:1] = [a]
    b[0] += [1]
def put_all_in_slice(a: list):                                 #: unknown may change the object that b[...] is
    b = [[]]
    b[:] = list(a)
    b[0] += [1]
def added_to_slice(a):                                         #: unknown may change the object that b[...] is
    b = [[]]
    b[0:1] += [a]
    b[0] += [1]
def put_where_made(a):                                         #: unknown may change the object that b[...] is
    (b := []).append(a)
    b[0] += [1]
def put_behind_key_where_made(a):                              #: unknown may change the object that b[...] is
    (b := {})["c"] = a
    b["c"] += [1]
def put_in_one_of_two(a, c: bool):                             #: unknown may change the object that b[...] is
    b, d = [[]], [[]]
    (b if c else d).append(a)
    b[0] += [1]
def counts_by_sum(a: int):                                     #: pure
    b = [0]
    b[a + 1] += 1
    return b
"""

RAISES = """
import lazily
class Loud(Exception):
    def __init__(self, a): print(a)                            #: impure
class Quiet(Exception): pass
def from_class(a): raise ValueError(a) from Loud               #: impure calls __init__
def from_quiet(a): raise ValueError(a) from Quiet              #: pure
def from_unknown(a): raise ValueError(a) from lazily.Error     #: unknown calls lazily.Error
def from_given(a): raise ValueError from a                     #: unknown calls a
def from_none(a): raise ValueError from None                   #: pure
def from_caught():                                             #: pure
    try: return 1
    except ValueError as e: raise TypeError(1) from e
def caught():                                                  #: pure
    try: return 1
    except ValueError as e: raise e
def bound_anew(a):                                             #: unknown calls e
    try: return 1
    except ValueError as e:
        e = a
        raise e
"""

REPLACES = """
import builtins, html, json, math, os, re, string, textwrap
from textwrap import dedent
def fake(a): print(a)                                          #: impure
json.dumps = fake
re.escape: object = fake
builtins.len = fake
globals()["sorted"] = fake
vars(builtins)["ord"] = fake
builtins.__dict__["chr"] = fake
setattr(math, "sin", fake)
def patches(): textwrap.dedent = fake                          #: impure
def patches_given(module): module.capwords = fake              #: impure
class Own:
    def __init__(self): self.unescape = fake                   #: pure
def dumps(a: str): return json.dumps(a)                        #: unknown calls json.dumps, which is not known
def loads(a: str): return json.loads(a)                        #: unknown calls json.loads
def escapes(a: str): return re.escape(a)                       #: unknown calls re.escape
def counts(a: str): return len(a)                              #: unknown calls len
def sorts(a: str): return sorted(a)                            #: unknown calls sorted
def ords(a: str): return ord(a)                                #: unknown calls ord
def chrs(a: int): return chr(a)                                #: unknown calls chr
def texts(a: int): return str(a)                               #: pure
def sines(a: int): return math.sin(a)                          #: unknown calls math.sin
def cosines(a: int): return math.cos(a)                        #: unknown calls math.cos
def dedents(a: str): return dedent(a)                          #: unknown calls dedent
def caps(a: str): return string.capwords(a)                    #: unknown calls string.capwords
def unescapes(a: str): return html.unescape(a)                 #: pure
os.getcwd = fake
def stays_impure(): return os.stat("a")                        #: impure calls os.stat
def of_same_module(a: str): return os.path.join(a, "b")        #: unknown calls os.path.join
"""


@pytest.mark.parametrize(
    "text",
    [OWN_EFFECTS, WHOM_IT_CALLS, UNSEEN, ONLY_LOGS, NEVER_NAMED, TAKES, HOLDS, RAISES, REPLACES],
    ids=[
        "own-effects",
        "whom-it-calls",
        "what-runs-unseen",
        "what-only-logs",
        "what-is-never-named",
        "what-takes",
        "what-holds",
        "what-raises",
        "what-replaces",
    ],
)
def test_function_is_what_its_mark_says(text):
    found = purity_of(text)
    wrong = unlike_marks(text, lambda line: found.get(line) or found[line - 1])  # a decorator stands above
    assert not wrong, "\n".join(map(str, wrong))


ALL_OF_LIBRARY = r"""
json.dumps = fake
json.dumps += 1
json.dumps, other = fake, 1
for json.dumps in [fake]: pass
setattr(json, "dumps", fake)
builtins.setattr(json, "dumps", fake)
alias = setattr; alias(json, "dumps", fake)
delattr(json, "dumps")
json.__setattr__("dumps", fake)
object.__setattr__(json, "dumps", fake)
vars(json)["dumps"] = fake
vars(json).update(dumps=fake)
vars(json).pop("dumps")
vars(json).__setitem__("dumps", fake)
del json.dumps
json.__dict__["dumps"] = fake
json.__dict__.update({"dumps": fake})
names = vars(json); names["dumps"] = fake
names = json.__dict__; names["dumps"] = fake
module = json; module.dumps = fake
def patches(): module = json; module.dumps = fake
def patches(name): setattr(json, name, fake)
def patches(name): vars(json)[name] = fake
sys.modules["json"] = fake
def patches(name): sys.modules[name] = fake
for name in given: sys.modules[name] = fake
for module in (json,): module.dumps = fake
for module, name in ((json, "dumps"),): setattr(json, name, fake)
for module in (json, sys): setattr(module, name, fake)
modules = [sys, json]\nfor module in modules: setattr(module, name, fake)
for modules in [[sys], [json]]:\n for module in modules: module.dumps = fake
"""
NAME_ALONE = r"""
sys.modules["json"].dumps = fake
__import__("json").dumps = fake
class Own: pass\nOwn.json = json; Own.json.dumps = fake
modules = [json]; modules[0].dumps = fake
mock.patch("json.dumps", fake)
with mock.patch.object(json, "dumps"): pass
def test_it(mocker): mocker.patch("json.dumps")
@mock.patch("json.dumps")\ndef test_it(a): pass
def test_it(monkeypatch): monkeypatch.setattr(json, "dumps", fake)
def test_it(monkeypatch): monkeypatch.setattr("json.dumps", fake)
mock.patch("core.dumps", fake)
mock.patch("core.json.dumps", fake)
mock.patch.multiple("core", dumps=fake)
mock.patch(new=fake, target="json.dumps")
mock.patch.object(json, attribute="dumps")
def test_it(monkeypatch): monkeypatch.setattr(name="dumps", target=json, value=fake)
import core; mock.patch.object(core, "dumps")
def test_it(monkeypatch, core): monkeypatch.setattr(core, "dumps", fake)
def patches(module): module.dumps = fake
class Own:\n    @staticmethod\n    def patches(module): module.dumps = fake
"""


@pytest.mark.parametrize(
    ("form", "purity"),
    [
        *((form, "unknown") for form in ALL_OF_LIBRARY.strip().splitlines()),
        *((form, "pure") for form in NAME_ALONE.strip().splitlines()),
    ],
)
def test_replaced_function_is_unknown_and_so_is_its_library_where_that_is_seen(form, purity):
    replaced, other = "def dumps(a: str): return json.dumps(a)", "def loads(a: str): return json.loads(a)"
    begin = "import builtins, json, sys\nfrom unittest import mock\ndef fake(a): return a\n"
    text = f"{begin}{form}\n{replaced}\n{other}".replace(r"\n", "\n")
    found = purity_of(text)
    line = text.count("\n") + 1
    assert (found[line - 1].purity, found[line].purity) == ("unknown", purity)


@pytest.mark.parametrize(
    "form",
    [
        "globals().update(len=fake)",
        'globals().setdefault("len", fake)',
        "for name in given: globals()[name] = fake",
        "names = globals(); names.update(given)",
        'vars().__setitem__("own", fake)',
        "def patches(): globals().update(given)",
        'del globals()["own"]',
        "names = globals()\nnames |= given",
        "change = globals().update",
        "dict.update(globals(), given)",
        "operator.setitem(globals(), name, fake)",
        "class A: names = globals()",
        "own.__globals__.update(given)",
        "inspect.currentframe().f_globals.update(given)",
        "exec(given)",
        "def gives(): return globals()",
        "def takes(names=globals()): names.clear()",
        "fake([globals()])",
        'fake({"names": globals()})',
        "fake.names = globals()",
    ],
)
def test_nothing_is_known_of_what_a_file_calls_that_may_give_any_of_its_names_another_value(form):
    text = f"import json\ndef own(a): return a\ndef fake(a): return a\n{form}\n"
    calls = ["len(a)", "own(a)", "json.dumps(a)"]
    found = purity_of(text + "".join(f"def f{number}(a: str): return {call}\n" for number, call in enumerate(calls)))
    first = text.count("\n") + 1
    assert [found[first + number].purity for number in range(len(calls))] == ["unknown"] * len(calls)


@pytest.mark.parametrize(
    ("form", "purities"),
    [
        ('globals()["own"] = fake', ["pure", "unknown"]),
        ("vars(builtins)[name] = fake", ["unknown", "pure"]),
        ('__builtins__["len"] = fake', ["unknown", "pure"]),
        ("__builtins__.len = fake", ["unknown", "pure"]),
        ('setattr(__builtins__, "len", fake)', ["unknown", "pure"]),
        ("__builtins__.update(len=fake)", ["unknown", "pure"]),
        ("def patches(name): sys.modules[name] = fake", ["pure", "pure"]),
        ("setattr(builtins, name, fake)", ["unknown", "pure"]),
        ('class Own: pass\nmock.patch.object(Own, "len")', ["pure", "pure"]),
        ("setattr(json, name, fake)", ["pure", "pure"]),
        ("object.__setattr__(json, name, fake)", ["pure", "pure"]),
        ("print(globals())", ["pure", "pure"]),
        ("print(**globals())", ["pure", "pure"]),
        ('a = globals().get("a")', ["pure", "pure"]),
        ('a = globals()["a"]', ["pure", "pure"]),
        ("exec(given, {})", ["pure", "pure"]),
        ('globals()["a"].b = fake', ["pure", "pure"]),
    ],
)
def test_only_what_a_form_may_replace_is_unknown(form, purities):
    text = f"import builtins, json, sys\ndef own(a): return a\ndef fake(a): return a\n{form}\n"
    found = purity_of(f"{text}def f(a: str): return len(a)\ndef g(a: str): return own(a)\n")
    first = text.count("\n") + 1
    assert [found[first].purity, found[first + 1].purity] == purities


@pytest.mark.parametrize(
    ("replaces", "purity"),
    [
        ("def patches(x):\n while x:\n  for x in x:\n   x.dumps = fake\n", "unknown"),  # it goes over itself
        ("".join(f"for a{n} in a{n - 1}: pass\n" * 2 for n in range(1, 30)) + "a29.dumps = fake\n", "unknown"),
        (f"for a in [{'sys, ' * (MAX_WAYS - 4)} json]: a.dumps = fake\n", "unknown"),
        (f"for a in [{', '.join(f'a{n}' for n in range(MAX_WAYS))}, json]: a.dumps = fake\n", "unknown"),
        (f"for a in [{', '.join(f'a{n}' for n in range(MAX_WAYS))}, json]: setattr(a, name, fake)\n", "pure"),
    ],
    ids=["over itself", "over what others go over", "few", "more than are looked at", "more, by a computed name"],
)
def test_what_a_loop_goes_over_is_looked_into_so_far(replaces, purity):
    text = f"import json, sys\ndef fake(a): return a\na0 = []\n{replaces}def dumps(a: str): return json.dumps(a)\n"
    found = costs_under(0.5, lambda: purity_of(text))
    assert found[text.count("\n")].purity == purity


@pytest.mark.parametrize(
    ("patch", "purities"),
    [
        ('mock.patch("core.run", fake)', ["pure", "unknown", "pure"]),
        ('mock.patch.object(core, "run")', ["pure", "unknown", "pure"]),
        ("mock.patch.multiple(core, run=fake)", ["pure", "unknown", "pure"]),
        ('mock.patch(target="core.run", new=fake)', ["pure", "unknown", "pure"]),
        ('mock.patch.object(core, attribute="run", new=fake)', ["pure", "unknown", "pure"]),
        (
            'def test_it(monkeypatch): monkeypatch.setattr(target=core, name="run", value=fake)',
            ["pure", "unknown", "pure"],
        ),
        ('@mock.patch("core.run")\ndef test_it(a): pass', ["pure", "unknown", "pure"]),
        ('def test_it(monkeypatch): monkeypatch.setattr(core, "run", fake)', ["pure", "unknown", "pure"]),
        ('class Own: pass\nmock.patch.object(Own, "run")', ["pure", "unknown", "pure"]),
        ('mock.patch("json.dumps", fake)', ["pure", "pure", "pure"]),
    ],
)
def test_who_calls_a_function_of_the_project_that_a_test_patches_may_call_another(patch, purities):
    text = f"import core, json\nfrom unittest import mock\ndef fake(a): return a\n{patch}\n"
    functions = "def run(a): return a\ndef calls(a): return run(a)\ndef dumps(a): return a\n"
    found = purity_of(text + functions)
    first = text.count("\n") + 1
    assert [found[first + at].purity for at in range(len(purities))] == purities


READERS = """
DEBUG = False
OTHER = 1
CACHE = []
KEPT = []
KEYS = {}
ALIASED = []
SAFE = []
def get(): return DEBUG                                        #: impure reads DEBUG
def cache(): return CACHE                                      #: impure reads CACHE
def kept(): return KEPT                                        #: impure reads KEPT
def keys(): return KEYS                                        #: impure reads KEYS
def other(): return OTHER                                      #: unknown reads OTHER, which a function may change
def aliased(): return ALIASED                                  #: impure reads ALIASED
def safe(): return SAFE                                        #: pure
def puts(a):                                                   #: impure
    b = a or ALIASED
    b.append(1)
"""
WRITERS = """import config
def turns_on(): config.DEBUG = True                            #: impure writes config.DEBUG
def asks(): return config.DEBUG                                #: impure reads DEBUG, which a function changes in line 2
def adds(): config.CACHE.append(1)                             #: impure
def keeps(): config.KEPT += [1]                                #: impure writes config.KEPT
def sets(): config.KEYS["a"] = 1                               #: impure
def of_unknown(a): a.OTHER = 1                                 #: impure writes a.OTHER
def asks_other(): return config.OTHER                          #: unknown reads OTHER
"""


def test_what_a_function_of_another_file_changes_is_not_read_without_effect():
    leads = ImportRow(1, "config", None, False, False, "config.py", ())
    files = [
        GraphFile(path, "python", FACTS.facts_of("python", text.encode()), imports)
        for path, text, imports in (("b.py", WRITERS, [leads]), ("config.py", READERS, []))
    ]
    graph = resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows)
    rows = {(row.file, row.line): row for row in judged(files, graph)}
    texts = enumerate((WRITERS, READERS))
    assert not [wrong for file, text in texts for wrong in unlike_marks(text, lambda n, file=file: rows[file, n])]


@pytest.mark.parametrize(
    ("form", "purity"),
    [
        ("config.__dict__.update(given)", "unknown"),
        ("vars(config)[given] = fake", "unknown"),
        ("names = vars(config)\nnames[given] = fake", "unknown"),
        ("config.__dict__.get(given)", "pure"),
    ],
)
def test_nothing_is_known_of_a_file_that_another_may_give_other_names(form, purity):
    caller = f"import config\n{form}\ndef f(a: int): return config.h(a)\n"
    called = "def h(a: int): return a\ndef k(a: int): return h(a)\n"
    leads = ImportRow(1, "config", None, False, False, "config.py", ())
    files = [
        GraphFile(path, "python", FACTS.facts_of("python", text.encode()), imports)
        for path, text, imports in (("b.py", caller, [leads]), ("config.py", called, []))
    ]
    graph = resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows)
    rows = {(row.file, row.line): row.purity for row in judged(files, graph)}
    assert (rows[0, caller.count("\n")], rows[1, 1], rows[1, 2]) == (purity, "pure", purity)


@pytest.mark.parametrize(
    "broken", ["def f(): print(1); def g(): pass", "class A: def f(self): print(1); def g(self): pass"]
)
def test_functions_that_begin_in_one_line_have_the_effects_of_all(broken):
    assert purity_of(broken)[1].purity_reason == "line 1: calls print"


def test_language_whose_effects_are_not_read_has_no_rows():
    assert purity_of("function a() { return 1 }", "javascript") == {}


@pytest.mark.parametrize(
    "text",
    [
        "def a(b):\n" + "    c = d = b.e(c)\n" * 400,
        "def a(b):\n    c = b\n" + "    c = c.d or c.e or c.f or c\n" * 400 + "    return c.strip()",
        "".join(f"def f{n}(a): return f{n + 1}(a)\n" for n in range(400)) + "def f400(a): print(a)",
        "class A:\n" + "".join(f"    @property\n    def p{n}(self): return self.p{n + 1}\n" for n in range(300)),
        "def a(b):\n    c = b\n" + "    c += b\n" * 400,
        "def a(b):\n" + "".join(f"    c{n} = c{n - 1} or b\n    c{n}.append(1)\n" for n in range(1, 400)),
        "global x\nx = []\n" + "".join(f"def f{n}():\n    global x\n    x = x\n" for n in range(400)),
        "".join(f"class A{n}(A{n - 1}):\n    def m(self): return A{n}()\n" for n in range(1, 200)),
        "def a():\n c = []\n" + "".join(f" c.append({n})\n def f{n}(): return len(c)\n" for n in range(400)),
    ],
    ids=["calls", "choices", "chain", "properties", "augmented", "aliases", "rebound", "bases", "around"],
)
def test_hostile_text_takes_time_in_proportion_to_it(text):
    files = [GraphFile("a.py", "python", FACTS.facts_of("python", text.encode()), [])]
    graph = resolved(files, budget=GraphBudget(), languages=LANGUAGES.rows)
    costs_under(0.2, lambda: [*judged(files, graph)])
