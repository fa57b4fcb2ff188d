"""Which macros of Rust are read as calls, since what they get looks like expressions; and which never are."""

from costing import costs_under
from tables import every_row

from fledgling.worker.languages.rust.expression_macros import first

SIZE = 1 << 15  # bytes: a thirty-second of the largest file; the square of that would take minutes
SECONDS = 0.2  # of CPU

READ = [
    "a!(b)", "a!()", "a!(b.c()?, &mut d,)", "a!(if b { c; } else { d })", "a!(match b { C => d!(1), _ => e })",
    "a!(|(b, _)| c.d(b))", "a!(move || b)", 'a!("}", r#"" => "#, \')\')', "a!([0; 4])", "a!(b as u8)", "a!(b::<C>(..))",
    "a!(b, /* ; */ c)", "B { c: a!(d) }", 'a!(b = %c, ?d, "", e.f = ?g)',
]  # fmt: skip
STAY = [
    "a!(b => c)", "a!(b; c)", "a!($b)", "a!(Some(_))", "a!(b c)", "a!(b: c)", "a!(Vec<B>)", "a!(b if c)", "a!(&'b c)",
    "a!(let b = c)", "a!(fn b() {})", "a!(ref b)", "a!(b @ C)", "a!(= b)", "a!(,)", "a!(b(c) d)", "a![b]", "a! { b }",
    "a!(b", "b != (c)",
]  # fmt: skip
HOSTILE = [
    "a!(", "a!([", "a!(;[", "fn a() { b!(c, |d| e, f) }", "a!({", "(|", "move |", "a!(b, |c",  "/*", "'",
    'r#"', ", a", "a!(b = %c, ", "a!(b c\n", "b! (", "[;", ";", "= ", "{", ")",
]  # fmt: skip


@every_row("text", READ)
def test_what_looks_like_expressions_is_read(text: str) -> None:
    source = f"fn f() {{ {text}; }}".encode()
    assert source.index(b"a!") + 1 in [start for start, _ in first(source)]


@every_row("text", STAY)
def test_what_may_be_anything_else_stays(text: str) -> None:
    assert first(f"fn f() {{ {text}; }}".encode()) == []


def test_a_macro_that_may_make_definitions_stays() -> None:
    assert first(b"a!(B);\nmod c { a!(B); }\nimpl D { a!(B); }\n") == []
    assert first(b"const A: u8 = a!(B);") == [(15, 16)]


@every_row("unit", HOSTILE)
def test_takes_time_in_proportion_to_the_text(unit: str) -> None:
    source = b"fn a() { b!([" + unit.encode() * (SIZE // len(unit)) + b"]) }"
    costs_under(SECONDS, lambda: first(source))
