#[derive(Debug)]
/// Doc
pub(in crate::x) struct A<T>(pub T);
pub use a::{self, b::{c as d, e::*}, *, f};
use super::x::y as z;
use foo; use ::bar; use ::{baz}; pub use ::qux as q;
use ::std::io;
use {a, b::c};
use std::{io::{self as sio, Read}, fs,
   collections::HashMap};
impl<T> fmt::Display for m::A<T> where T: X { pub const fn f(&self) {} const C: u8 = 1; type O = u8; }
trait Q: R { fn g(&self); type B; const D: u8; fn h() {} }
extern "C" { fn z(); static E: u8; }
#[macro_export] #[doc(hidden)]
macro_rules! mm { () => {} }
enum En { V(u8), W = 3, X { a: u8 } }
#[path = "o.rs"] mod o;
extern crate foo as bar;
union U { a: u8 }
