"""The words of queries, the same for all languages: what a node is, and what it is to the node around it."""

# What a node is. Of two kinds that a span has, the first of these holds.
KINDS = [
    "import", "from", "imports", "export", "require", "package", "import_path", "use", "use_under", "pointee",
    "path", "root", "extension", "tokens", "undefined", "conditional", "mixin", "singleton", "accessor", "method_alias",
    "method_made", "class_made", "listed", "evaluated", "constant_made", "class_aliased", "setting", "own_field",
    "sent_block", "class_methods", "trait_method", "attribute", "annotation", "decorated", "function",
    "variables", "type_alias", "class", "keyed", "interface", "namespace", "lambda", "signature", "comprehension",
    "block", "branch", "asserted", "loop", "try", "handler", "with", "item_with", "within", "match", "case",
    "case_name", "pattern", "class_pattern", "member_pattern", "narrow", "return", "yield", "raise",
    "break", "continue", "labelled", "assign", "bound", "augment", "global", "nonlocal", "delete", "field", "payload",
    "param", "own_type", "results", "keyword", "spread", "spread_words", "pair", "called_by_name", "block_call", "call",
    "new", "changed", "initializer", "reference", "get", "index", "slice", "delegate", "cast", "predicate", "lookup",
    "keys", "qualified", "element", "choice", "sum", "list", "composite", "variant", "tuple", "dict", "shape", "text",
    "number", "applied", "operation", "pointed", "addressed", "await", "super", "this", "array", "array_made",
    "channel", "typeof", "class_of", "nullable", "repeated", "label", "name",
]  # fmt: skip
# What it is to the node around it.
ROLES = [
    "of", "key", "args", "arg", "arm", "left", "right", "value", "init", "type", "body", "otherwise", "finally",
    "over", "word", "base", "decorator", "cond", "returns", "bind", "hoisted", "existing", "until_break", "defined",
    "module", "imported", "alias", "wildcard", "everywhere", "compiled", "default", "exported", "outward", "rest",
    "rest_words", "by_name", "by_reference", "static", "property", "setter", "abstract", "overload", "async",
    "declaration", "extension_of", "receiver_type", "explicit", "hidden", "container", "optional", "partial", "guard",
    "fresh", "checked", "receiver", "constructor", "replaced", "prepended", "makes", "included", "open", "overrides",
    "virtual", "points", "constant", "present", "computed", "aliased", "rest_type", "brackets", "names_type",
    "extended", "mixed", "derives", "withdrawn", "renames", "opens", "refuted", "ended", "keeps", "captured",
    "lasting", "passing", "constrained", "templated", "asked_for", "tag", "skip", "inner", "single", "implicit",
    "of_objects", "behind", "of_no_class", "borrows", "mutates", "consumes", "bare_block", "of_block", "head",
    "of_head", "extends_none", "asserts", "hands_on",
]  # fmt: skip
NUMBERS = {label: number for number, label in enumerate([*ROLES, *KINDS])}  # few bits for roles: asked for most
BITS = {label: 1 << number for label, number in NUMBERS.items()}
IS_KIND = (1 << len(NUMBERS)) - (1 << len(ROLES))
SCOPES = sum(
    BITS[kind]
    for kind in (
        "function", "class", "interface", "namespace", "extension", "lambda", "signature", "comprehension", "block",
        "type_alias",
    )
)  # fmt: skip

# The bits of those that several modules ask for.
OF, KEY, ARGS, ARG, ARM, COND, LEFT = (BITS[role] for role in ("of", "key", "args", "arg", "arm", "cond", "left"))
RIGHT, VALUE, INIT, TYPE, BODY = (BITS[role] for role in ("right", "value", "init", "type", "body"))
OTHERWISE, OVER, WORD, RETURNS, BIND = (BITS[role] for role in ("otherwise", "over", "word", "returns", "bind"))
DEFINED, MODULE, IMPORTED, ALIAS = (BITS[role] for role in ("defined", "module", "imported", "alias"))
WILDCARD, REST, REST_WORDS, BY_NAME = (BITS[role] for role in ("wildcard", "rest", "rest_words", "by_name"))
OPTIONAL, RECEIVER, MAKES, INCLUDED = (BITS[role] for role in ("optional", "receiver", "makes", "included"))
REST_TYPE, BRACKETS = BITS["rest_type"], BITS["brackets"]
BEHIND = BITS["behind"]
IS_PRESENT = BITS["present"]
IS_COMPUTED = BITS["computed"]
IS_ALIASED = BITS["aliased"]
IS_CALL, IS_NEW, IS_GET, IS_INDEX, IS_SLICE = (BITS[kind] for kind in ("call", "new", "get", "index", "slice"))
IS_PATH, IS_NAME, IS_LABEL, IS_TEXT, IS_NUMBER = (BITS[kind] for kind in ("path", "name", "label", "text", "number"))
IS_TUPLE, IS_DICT, IS_PAIR, IS_KEYWORD = (BITS[kind] for kind in ("tuple", "dict", "pair", "keyword"))
IS_SPREAD, IS_SPREAD_WORDS, IS_PARAM = (BITS[kind] for kind in ("spread", "spread_words", "param"))
IS_FUNCTION, IS_CLASS, IS_ASSIGN, IS_LOOP = (BITS[kind] for kind in ("function", "class", "assign", "loop"))
IS_NARROW, IS_AWAIT, IS_POINTEE = (BITS[kind] for kind in ("narrow", "await", "pointee"))
