"""On which systems lines of C, files of Go and items of Rust are compiled: by conditions, and by the names of files."""

import pytest
from costing import costs_under
from tables import every_row

from fledgling.worker.languages.c.compiled_on import MAX_CONDITION, systems
from fledgling.worker.languages.go.compiled_on import MAX_CONSTRAINT
from fledgling.worker.languages.go.compiled_on import systems as systems_of_go
from fledgling.worker.languages.rust.compiled_on import systems as systems_of_rust
from fledgling.worker.systems import (
    AIX,
    ANY,
    APPLE,
    BSD,
    LINUX,
    MAX_INNER,
    OTHER,
    WINDOWS,
    ZOS,
    of_path,
    taken_on,
)

SIZE = 1 << 16  # bytes: a sixteenth of the largest file
SECONDS = 0.5  # of CPU; a fifth of it on a quiet machine
LEAST = "#ifdef _WIN32\n#endif\n"  # without which nothing is looked at
BUT_WINDOWS = ANY & ~WINDOWS

CONDITIONS = {  # and where what stands behind each may be compiled
    "#ifdef _WIN32": WINDOWS,
    "# ifndef _WIN32 // so": BUT_WINDOWS,
    "#if defined(_WIN32) && !defined(__CYGWIN__)": WINDOWS,
    "#if !(defined(__APPLE__) || defined _WIN32)": BUT_WINDOWS & ~APPLE,
    "#if !defined(__APPLE__) && \\\n !defined(_WIN32)": BUT_WINDOWS & ~APPLE,
    "#if _MSC_VER >= 1900": WINDOWS,
    "#if _MSC_VER < 1900": ANY,
    "#if !defined(_MSC_VER)": ANY,
    "#if __FreeBSD__ > 9 || defined(__NetBSD__)": BSD,
    "#if defined(HAVE_EPOLL) && defined(__linux__)": LINUX,
    "#if defined(HAVE_EPOLL) || defined(__linux__)": ANY,
    "#if __has_include(<a>) && _AIX": AIX,
    "#if A(1, (2)) == 3 && defined(__MVS__)": ZOS,
    "#if _WIN32 + 1 > 2": ANY,
    "#if 0": 0,
    "#if 1": ANY,
    "#if": ANY,
    "#if ((": ANY,
    "#if ! /* _WIN32 */": ANY,
    "/*\n#ifdef _WIN32\n*/": ANY,
    f"#if {'(' * MAX_INNER}_WIN32{')' * MAX_INNER}": WINDOWS,
    f"#if {'(' * (MAX_INNER + 1)}_WIN32{')' * (MAX_INNER + 1)}": ANY,
    f"#if _WIN32 && {' ' * (MAX_CONDITION - 20)}1": WINDOWS,
    f"#if _WIN32 && {' ' * MAX_CONDITION}1": ANY,
}
GIVEN = "#define A 5\n#define B 0\n#define C 010\n#define D (5) /* so */\n#define E F\n#undef G\n"
GIVEN += f"#define H {' ' * (MAX_CONDITION - 11)}1\n#define I {' ' * (MAX_CONDITION - 11)}12\n"
NUMBERS = {  # whether what stands behind each may be compiled in a file that gives macros these
    "#if A == 5": True,
    "#if A": True,
    "#if !B && (A >= 5)": True,
    "#if A != 5": False,
    "#if D < 5": False,
    "#if B": False,
    "#if H == 12": False,
    "#if I == 12": True,
    "#if A && !defined(E)": False,
    "#if E == 5": True,
    "#if (A + 1) == 6": True,
    "#if (A * 100 + B) >= 500": True,
    "#if (G || A) == 1": True,
    "#if defined(A) == 1": True,
    "#if !A == 0": True,
    "#if C == 8": True,
    "#if A == 05": True,
    "#if A == 5L": True,
    "#if A(1)": True,
    "#if A ? 0 : 1": True,
}
CONSTRAINTS = {  # and where a file of Go may be compiled that begins with each
    "//go:build windows": WINDOWS,
    "//go:build !windows && amd64 && cgo": BUT_WINDOWS,
    "// a\n\n/* b\nc */\n//go:build !(darwin || windows) // d": BUT_WINDOWS & ~APPLE,
    "//go:build linux": LINUX | OTHER,
    "//go:build !linux": ANY & ~LINUX,
    "//go:build ignore": 0,
    "//go:build !appengine": ANY,
    "//go:build go1.18": ANY,
    "//go:build !go1.99": 0,
    "// +build windows,!cgo netbsd\n// +build !race": WINDOWS | BSD,
    "// +build ignore\n//go:build windows": WINDOWS,
    "//go:build": ANY,
    "//go:build (": 0,
    "package a\n//go:build windows": ANY,
    "/* //go:build windows": ANY,
    f"//go:build {'(' * MAX_INNER}windows{')' * MAX_INNER}": WINDOWS,
    f"//go:build {'(' * (MAX_INNER + 1)}windows{')' * (MAX_INNER + 1)}": ANY,
    f"//go:build windows{' ' * (MAX_CONSTRAINT - 20)}": WINDOWS,
    f"//go:build windows{' ' * MAX_CONSTRAINT}": ANY,
}
ATTRIBUTES = {  # and where an item of Rust is compiled that stands behind each
    "#[cfg(windows)]": WINDOWS,
    "#[cfg(unix)]": BUT_WINDOWS,
    "#[cfg(not(unix))]": WINDOWS | OTHER,
    '#[cfg(all(feature = "a", not(target_os = "windows")))] #[inline]': BUT_WINDOWS,
    '#[cfg(not(all(feature = "windows", windows)))]': ANY,
    '#[cfg(any(target_os = "linux", target_os = "macos",))]': LINUX | APPLE,
    '#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]': ANY & ~LINUX & ~APPLE,
    '#[cfg(target_os = "fuchsia")]': OTHER,
    '#[cfg(target_os = "freebsd")]\n#[cfg(unix)]': BSD,
    '#[cfg(target_arch = "wasm32")]': OTHER,
    '#[cfg(target_arch = "x86_64")]': ANY,
    "#[cfg(all(test, loom))]": 0,
    "#[cfg(not(loom))]": ANY,
    "#[cfg(linux)]": ANY,  # which nothing sets: target_os does
    "#![cfg(windows)]": WINDOWS,
    "// #[cfg(windows)]": ANY,
    "#[cfg(windows)] const B: C<D, E> = F;": ANY,
    "f(#[cfg(windows)] b,": ANY,
    "#[cfg_attr(windows, a)]": ANY,
    "#[cfg(windows": ANY,
    "#[cfg(any(]": ANY,
    f"#[cfg({'all(' * MAX_INNER}windows{')' * MAX_INNER})]": WINDOWS,
    f"#[cfg({'all(' * (MAX_INNER + 1)}windows{')' * (MAX_INNER + 1)})]": ANY,
}
PATHS = {
    "src/win/tcp.c": WINDOWS,
    "subprocess-win32.cc": WINDOWS,
    "src/unix/tcp.c": BUT_WINDOWS,
    "src/unix/darwin-proctitle.c": APPLE,
    "osdep_linux.c": LINUX,
    "unix/cygwin.c": OTHER,
    "win/linux.c": ANY,
    "window.c": ANY,
    "twin/winch.c": ANY,
}


@every_row("condition", CONDITIONS)
def test_condition_says_where_it_may_hold(condition: str) -> None:
    changes = systems(f"{LEAST}{condition}\nint a;\n".encode())
    assert ([ANY, *(where for _, where in changes)])[-1] == CONDITIONS[condition]


@every_row("number", NUMBERS)
def test_numbers_of_a_file_say_which_conditions_hold(number: str) -> None:
    changes = systems(f"{GIVEN}{number}\nint a;\n".encode())
    assert ([ANY, *(where for _, where in changes)])[-1] == ANY * NUMBERS[number]


@every_row("constraint", CONSTRAINTS)
def test_constraint_of_go_says_where_it_may_hold(constraint: str) -> None:
    found = systems_of_go(f"{constraint}\n\npackage a\n".encode())
    assert ([ANY, *(where for _, where in found)])[-1] == CONSTRAINTS[constraint]


def test_branches_are_what_those_before_leave() -> None:
    source = b"""#if defined(_WIN32)
#elif defined(__APPLE__) && A
#  ifdef __linux__
#  endif
#elif B
#else
#endif
"""
    assert systems(source) == [(1, WINDOWS), (2, APPLE), (3, 0), (4, APPLE), (5, BUT_WINDOWS), (7, ANY)]


@every_row("attribute", ATTRIBUTES)
def test_attribute_of_rust_says_where_what_is_behind_it_is_compiled(attribute: str) -> None:
    found = systems_of_rust(f"{attribute}\nfn a<B, C>() {{\n".encode())
    assert ([ANY, *(where for _, where in found)])[-1] == ATTRIBUTES[attribute]


def test_attribute_of_rust_holds_to_the_end_of_what_is_behind_it() -> None:
    source = b"""struct A {
  #[cfg(windows)]
  b: fn(c),
  #[cfg(unix)] d: [u8; 2],
}
#[cfg(windows)]
fn e<F, G>() -> [u8; 3] {
  #[cfg(unix)]
  { h('}') }
  i("}");
}
#[cfg(unix)] mod j;
cfg_if! {
  if #[cfg(windows)] {
  } else if #[cfg(target_os = "linux")] {
  } else {
  }
}
"""
    within = [
        (2, WINDOWS),
        (4, BUT_WINDOWS),
        (5, ANY),
        (6, WINDOWS),
        (8, 0),
        (10, WINDOWS),
        (12, BUT_WINDOWS),
        (13, ANY),
    ]
    assert systems_of_rust(source) == [*within, (14, WINDOWS), (15, LINUX), (17, BUT_WINDOWS & ~LINUX), (18, ANY)]


@every_row("path", PATHS)
def test_name_of_a_file_says_a_system(path: str) -> None:
    assert of_path(path) == PATHS[path]


def test_what_is_compiled_on_any_is_read_as_on_linux() -> None:
    assert (taken_on(ANY), taken_on(BUT_WINDOWS), taken_on(WINDOWS), taken_on(0)) == (LINUX, LINUX, WINDOWS, LINUX)


@pytest.mark.parametrize(
    "unit",
    [
        "#if _WIN32\n",
        "#elif _WIN32\n",
        "#if _WIN32 && (",
        "#if defined(_WIN32\n",
        "#if !\\\n",
        "#if a(/*",
        "#if '",
        "#e",
    ],
)
def test_systems_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = (LEAST + unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: systems(source))


@pytest.mark.parametrize("unit", ["// +build a,!b\n", "/* //go:build\n", "/* a */\n", "//go:build (", "//go:build !"])
def test_constraints_of_go_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = b"// +build a\n" + (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: systems_of_go(source))


@pytest.mark.parametrize(
    "unit",
    [
        "#[cfg(windows)]",
        "#[cfg(not(",
        "#[cfg(a",
        "if #[cfg(unix)] {}\nelse\n",
        "(",
        "pub ",
        "#[cfg(unix)] fn a, ",
        "/*",
        'r#"',
        "}",
    ],
)
def test_attributes_of_rust_take_time_in_proportion_to_the_text(unit: str) -> None:
    source = b"#[cfg(windows)]\n" + (unit * (SIZE // len(unit))).encode()
    costs_under(SECONDS, lambda: systems_of_rust(source))
