"""Clang's view of a file of C or C++; what `#if` leaves out is not there, nor what macros expand to."""

import ctypes
from bisect import bisect
from collections.abc import Sequence
from pathlib import Path

from clang import cindex
from clang.cindex import Cursor, StorageClass
from clang.cindex import CursorKind as Kind

OPTIONS = 0x01 | 0x02 | 0x200  # a record of the preprocessor, of an incomplete unit, that goes on behind fatal errors
FUNCTIONS = {
    Kind.FUNCTION_DECL, Kind.FUNCTION_TEMPLATE, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR,
    Kind.CONVERSION_FUNCTION,
}  # fmt: skip
TAGS = {
    Kind.STRUCT_DECL: "struct",
    Kind.UNION_DECL: "struct",
    Kind.ENUM_DECL: "enum",
    Kind.CLASS_DECL: "class",
    Kind.CLASS_TEMPLATE: "class",
    Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION: "class",
}
PLAIN = {
    Kind.ENUM_CONSTANT_DECL: "constant",
    Kind.TYPE_ALIAS_DECL: "type",
    Kind.TYPE_ALIAS_TEMPLATE_DECL: "type",
    Kind.CONCEPT_DECL: "type",
    Kind.FIELD_DECL: "property",
}
OF_TAGS = {Kind.ENUM_CONSTANT_DECL, Kind.FIELD_DECL}
LEAVES = {Kind.TYPEDEF_DECL, Kind.VAR_DECL, *PLAIN}
HOLDING = {Kind.TYPEDEF_DECL, Kind.VAR_DECL, Kind.FIELD_DECL}
ENTERED = {
    Kind.FRIEND_DECL, Kind.LINKAGE_SPEC, Kind.UNEXPOSED_DECL, Kind.COMPOUND_STMT, Kind.DECL_STMT, Kind.FIELD_DECL,
    Kind.VAR_DECL, Kind.NAMESPACE,
}  # fmt: skip

Row = tuple[str, str, str, int, int]


class Ranges(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


class Outline:
    """`rows`: (kind, name, parent, first line, last line); `skipped`: spans of lines that `#if` leaves out."""

    def __init__(self, path: Path, arguments: Sequence[str]) -> None:
        self.path = str(path)
        unit = cindex.Index.create().parse(self.path, list(arguments), options=OPTIONS)
        self.errors = [found.spelling for found in unit.diagnostics if found.severity >= cindex.Diagnostic.Error]
        self.skipped = skipped(unit, self.path)
        self.rows: set[Row] = set()
        here = [cursor for cursor in unit.cursor.get_children() if str(cursor.location.file) == self.path]
        self.expansions = sorted(
            (cursor.extent.start.offset, cursor.extent.end.offset)
            for cursor in here
            if cursor.kind == Kind.MACRO_INSTANTIATION
        )
        for cursor in here:
            if cursor.kind == Kind.MACRO_DEFINITION:
                self.add("macro", cursor, "")
        self.visit_all([cursor for cursor in here if cursor.kind != Kind.MACRO_DEFINITION], "", local=False)

    def add(self, kind: str, cursor: Cursor, parent: str) -> None:
        offset = cursor.location.offset
        before = bisect(self.expansions, (offset, 1 << 60)) - 1
        expanded = before >= 0 and self.expansions[before][0] <= offset < self.expansions[before][1]
        if str(cursor.location.file) == self.path and not expanded:
            self.rows.add((kind, name(cursor), parent, cursor.extent.start.line, cursor.extent.end.line))

    def visit(self, cursor: Cursor, parent: str, *, local: bool) -> None:
        """Add what a cursor defines, and what is in it; `local` is what a function holds."""
        kind = cursor.kind
        if kind in LEAVES:
            self.leaf(cursor, parent, local=local)
        if not is_entered(cursor):
            return
        if kind in FUNCTIONS:
            self.add("method" if is_member(cursor) else "function", cursor, owner(cursor, parent))
            parent, local = name(cursor), True
        elif kind in TAGS and is_named(cursor):
            self.add(tag(cursor), cursor, name(cursor.semantic_parent) if is_member(cursor) else parent)
            parent = name(cursor)
        elif kind == Kind.NAMESPACE and cursor.spelling:
            self.add("module", cursor, parent)
            parent = name(cursor)
        children = [child for child in cursor.get_children() if kind not in HOLDING or is_named(child)]
        self.visit_all(children, parent, local=local)

    def visit_all(self, cursors: list[Cursor], parent: str, *, local: bool) -> None:
        """Visit what stands beside each other: what a struct without a name has is of the first that is of its type."""
        for at, cursor in enumerate(cursors):
            held = cursor.kind in TAGS and cursor.kind != Kind.ENUM_DECL and not is_named(cursor)
            following = cursors[at + 1] if held and at + 1 < len(cursors) else None
            is_holding = following is not None and following.kind in HOLDING and cursor in [*following.get_children()]
            self.visit(cursor, name(following) if is_holding else parent, local=local)

    def leaf(self, cursor: Cursor, parent: str, *, local: bool) -> None:
        kind = cursor.kind
        if kind == Kind.TYPEDEF_DECL:
            self.add(typedef(cursor), cursor, parent)
        elif kind in PLAIN:
            is_shown = kind not in OF_TAGS or not local or is_named(cursor.lexical_parent)
            if is_shown and cursor.spelling:  # bits may have no name
                self.add(PLAIN[kind], cursor, parent)
        elif not local and cursor.lexical_parent.kind in TAGS:
            self.add("property", cursor, parent)
        elif not local and is_made(cursor):
            self.add("variable", cursor, name(cursor.semantic_parent) if is_member(cursor) else parent)


def skipped(unit: cindex.TranslationUnit, path: str) -> list[tuple[int, int]]:
    get = cindex.conf.lib.clang_getSkippedRanges
    get.restype = ctypes.POINTER(Ranges)
    get.argtypes = [cindex.TranslationUnit, cindex.File]
    found = get(unit, unit.get_file(path)).contents
    return [(found.ranges[place].start.line, found.ranges[place].end.line) for place in range(found.count)]


def name(cursor: Cursor) -> str:
    """A name without arguments of templates and white space."""
    text = cursor.spelling
    if not text.startswith(("operator", "~operator")):
        text = text.partition("<")[0]
    return "".join(text.split())


def is_member(cursor: Cursor) -> bool:
    return cursor.semantic_parent is not None and cursor.semantic_parent.kind in TAGS


def is_entered(cursor: Cursor) -> bool:
    """Whether a cursor may hold definitions; a declaration without a body is not one."""
    if cursor.kind in FUNCTIONS:
        return is_whole(cursor)
    if cursor.kind in TAGS:
        return bool(cursor.is_definition())
    return cursor.kind in ENTERED or bool(cursor.kind.is_statement())


def is_made(variable: Cursor) -> bool:
    """Whether it is not only declared, as by `extern int a;`."""
    return variable.storage_class != StorageClass.EXTERN or bool(variable.is_definition())


def is_whole(cursor: Cursor) -> bool:
    """Whether it has a body, or can have none."""
    return bool(
        cursor.is_definition()
        or cursor.is_pure_virtual_method()
        or cursor.is_default_method()
        or cursor.is_deleted_method()
    )


def is_named(cursor: Cursor) -> bool:
    unnamed = cursor.spelling.startswith("(") or "(unnamed" in cursor.spelling or "(anonymous" in cursor.spelling
    return not unnamed and cursor.location.offset != cursor.extent.start.offset


def owner(cursor: Cursor, parent: str) -> str:
    """The class of a function, or the namespace that its name says: of `void a::f() {}`, `a`."""
    place = cursor.semantic_parent
    if is_member(cursor):
        return name(place)
    if place and place.kind == Kind.NAMESPACE and place != cursor.lexical_parent and place.spelling:
        return name(place) if cursor.lexical_parent.kind not in TAGS else parent
    return parent


def tag(cursor: Cursor) -> str:
    """The kind of a class; of a template, that of what it makes."""
    if cursor.kind not in (Kind.CLASS_TEMPLATE, Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION):
        return TAGS[cursor.kind]
    get = cindex.conf.lib.clang_getTemplateCursorKind
    get.restype, get.argtypes = ctypes.c_int, [Cursor]
    return TAGS.get(Kind.from_id(get(cursor)), "class")


def typedef(cursor: Cursor) -> str:
    """`typedef struct {...} name` is a struct."""
    inner = next((child for child in cursor.get_children() if child.kind in TAGS), None)
    plain = cursor.underlying_typedef_type.kind.name in ("ELABORATED", "RECORD", "ENUM")
    if inner and plain and inner.extent.start.offset == inner.location.offset:
        return TAGS[inner.kind]
    return "type"
