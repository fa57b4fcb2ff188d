//! The view of syn, the parser of Rust's own macros: outline < list of paths > JSON lines.
//! Each line: {"definitions": [[qualified name, kind, first line, last line]], "imports": [[line, module, name, alias]]},
//! or null where syn finds a syntax error.

use proc_macro2::{TokenStream, TokenTree};
use quote::{quote, ToTokens};
use std::io::BufRead;
use syn::visit::{self, Visit};
use syn::spanned::Spanned;
use syn::*;

#[derive(Default)]
struct Outline {
    path: Vec<String>,
    local: bool,
    definitions: Vec<String>,
    imports: Vec<String>,
}

fn main() {
    for path in std::io::stdin().lock().lines().map_while(|line| line.ok()) {
        let text = std::fs::read_to_string(&path).unwrap_or("?".into());
        println!("{}", parse_file(&text).map_or("null".into(), |file| read(&file)));
    }
}

fn read(file: &File) -> String {
    let mut outline = Outline::default();
    outline.visit_file(file);
    let (definitions, imports) = (outline.definitions.join(","), outline.imports.join(","));
    format!("{{\"definitions\": [{definitions}], \"imports\": [{imports}]}}")
}

/// The first and last line of something without its documentation.
fn lines(attributes: &[Attribute], bare: TokenStream) -> (usize, usize) {
    let tokens: Vec<TokenTree> = bare.into_iter().collect();
    let first = tokens.first().map_or(0, |token| token.span().start().line);
    let last = tokens.last().map_or(0, |token| token.span().end().line);
    let outer = attributes.iter().filter(|it| matches!(it.style, AttrStyle::Outer) && !is_comment(it));
    (outer.map(|it| it.pound_token.span.start().line).fold(first, usize::min), last)
}

/// Whether an attribute is written as `/// text`.
fn is_comment(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && attribute.pound_token.span.source_text().as_deref() != Some("#")
}

/// The name of the type of an impl block.
fn owner(of: &Type) -> String {
    match of {
        Type::Path(TypePath { qself: None, path, .. }) => path.segments.last().map_or(String::new(), |it| it.ident.to_string()),
        other => other.to_token_stream().to_string().replace(' ', ""),
    }
}

fn or_null(name: Option<&str>) -> String {
    name.map_or("null".into(), |name| format!("{name:?}"))
}

impl Outline {
    fn add(&mut self, name: &str, kind: &str, (first, last): (usize, usize)) {
        if name != "_" && !(self.local && matches!(kind, "constant" | "variable")) {
            let path = [&self.path[..], &[name.to_string()]].concat().join(".");
            self.definitions.push(format!("[{path:?}, {kind:?}, {first}, {last}]"));
        }
    }

    fn within(&mut self, name: &str, local: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.local, local);
        self.path.push(name.to_string());
        visit(self);
        self.path.pop();
        self.local = before;
    }

    fn import(&mut self, line: usize, module: &str, name: Option<&str>, alias: Option<&str>) {
        self.imports.push(format!("[{line}, {module:?}, {}, {}]", or_null(name), or_null(alias)));
    }

    fn used(&mut self, tree: &UseTree, line: usize, module: &str, lead: &str) {
        let inside = |name: &str| if module.is_empty() { format!("{lead}{name}") } else { format!("{module}::{name}") };
        match tree {
            UseTree::Path(it) => self.used(&it.tree, line, &inside(&it.ident.to_string()), ""),
            UseTree::Name(it) if module.is_empty() => self.import(line, &inside(&it.ident.to_string()), None, None),
            UseTree::Name(it) => self.import(line, module, Some(&it.ident.to_string()), None),
            UseTree::Rename(it) => {
                let (name, alias) = (it.ident.to_string(), it.rename.to_string());
                if module.is_empty() {
                    self.import(line, &inside(&name), None, Some(&alias))
                } else {
                    self.import(line, module, Some(&name), Some(&alias))
                }
            }
            UseTree::Glob(_) => self.import(line, module, Some("*"), None),
            UseTree::Group(it) => {
                for item in &it.items {
                    let own = matches!(item, UseTree::Path(_));
                    let line = if own { lines(&[], item.to_token_stream()).0 } else { line };
                    self.used(item, line, module, lead);
                }
            }
        }
    }
}

impl Outline {
    /// `cfg_rt! { items }` and `cfg_if! { if #[cfg(unix)] { items } else { items } }` say only when items are there.
    fn visit_condition(&mut self, mac: &Macro, around: fn(TokenStream) -> TokenStream) {
        let name = mac.path.segments.last().map_or(String::new(), |last| last.ident.to_string());
        if !name.starts_with("cfg_") {
            return self.visit_given(mac);
        }
        if let Ok(file) = parse2::<File>(around(mac.tokens.clone())) {
            return self.visit_file(&file);
        }
        for token in mac.tokens.clone() {
            if let TokenTree::Group(branch) = token {
                if let Ok(file) = parse2::<File>(around(branch.stream())) {
                    self.visit_file(&file);
                }
            }
        }
    }
    /// `pin_project! { items }` at the beginning of a line makes items of those, whatever else it makes.
    fn visit_given(&mut self, mac: &Macro) {
        let begins_line = mac.path.span().start().column == 0 && matches!(mac.delimiter, MacroDelimiter::Brace(_));
        let items = parse2::<File>(mac.tokens.clone()).map_or(Vec::new(), |file| file.items);
        for item in items.into_iter().filter(|_| begins_line) {
            match &item {
                Item::Verbatim(declared) => {
                    let read = parse2::<Item>(quote! { extern "C" { #declared } });
                    read.iter().for_each(|each| visit::visit_item(self, &each.clone()));
                }
                _ => self.visit_item(&item),
            }
        }
    }
}

macro_rules! bare {
    ($item:expr) => {{
        let mut bare = $item.clone();
        bare.attrs.clear();
        lines(&$item.attrs, bare.to_token_stream())
    }};
}

impl Outline {
    /// Those that have names.
    fn fields<'a>(&mut self, fields: impl Iterator<Item = &'a Field>) {
        for field in fields {
            if let Some(name) = &field.ident {
                self.add(&name.to_string(), "property", bare!(field));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Outline {
    fn visit_item_fn(&mut self, it: &'ast ItemFn) {
        let name = it.sig.ident.to_string();
        self.add(&name, "function", bare!(it));
        self.within(&name, true, |inner| visit::visit_item_fn(inner, it));
    }
    fn visit_impl_item_fn(&mut self, it: &'ast ImplItemFn) {
        let name = it.sig.ident.to_string();
        self.add(&name, "method", bare!(it));
        self.within(&name, true, |inner| visit::visit_impl_item_fn(inner, it));
    }
    fn visit_trait_item_fn(&mut self, it: &'ast TraitItemFn) {
        let name = it.sig.ident.to_string();
        self.add(&name, "method", bare!(it));
        self.within(&name, true, |inner| visit::visit_trait_item_fn(inner, it));
    }
    fn visit_foreign_item_fn(&mut self, it: &'ast ForeignItemFn) {
        self.add(&it.sig.ident.to_string(), "function", bare!(it));
    }
    fn visit_item_struct(&mut self, it: &'ast ItemStruct) {
        self.add(&it.ident.to_string(), "struct", bare!(it));
        self.within(&it.ident.to_string(), false, |inner| inner.fields(it.fields.iter()));
    }
    fn visit_item_union(&mut self, it: &'ast ItemUnion) {
        self.add(&it.ident.to_string(), "struct", bare!(it));
        self.within(&it.ident.to_string(), false, |inner| inner.fields(it.fields.named.iter()));
    }
    fn visit_item_enum(&mut self, it: &'ast ItemEnum) {
        let name = it.ident.to_string();
        self.add(&name, "enum", bare!(it));
        self.within(&name, false, |inner| {
            for variant in &it.variants {
                let name = variant.ident.to_string();
                inner.add(&name, "constant", bare!(variant));
                inner.within(&name, false, |inner| inner.fields(variant.fields.iter()));
            }
        });
    }
    fn visit_item_trait(&mut self, it: &'ast ItemTrait) {
        let name = it.ident.to_string();
        self.add(&name, "trait", bare!(it));
        self.within(&name, false, |inner| visit::visit_item_trait(inner, it));
    }
    fn visit_item_impl(&mut self, it: &'ast ItemImpl) {
        self.within(&owner(&it.self_ty), false, |inner| visit::visit_item_impl(inner, it));
    }
    fn visit_item_type(&mut self, it: &'ast ItemType) {
        self.add(&it.ident.to_string(), "type", bare!(it));
    }
    fn visit_trait_item_type(&mut self, it: &'ast TraitItemType) {
        self.add(&it.ident.to_string(), "type", bare!(it));
    }
    fn visit_impl_item_type(&mut self, it: &'ast ImplItemType) {
        self.add(&it.ident.to_string(), "type", bare!(it));
    }
    fn visit_item_const(&mut self, it: &'ast ItemConst) {
        let name = it.ident.to_string();
        self.add(&name, "constant", bare!(it));
        if name == "_" {
            visit::visit_item_const(self, it);
        } else {
            self.within(&name, true, |inner| visit::visit_item_const(inner, it));
        }
    }
    fn visit_trait_item_const(&mut self, it: &'ast TraitItemConst) {
        self.add(&it.ident.to_string(), "constant", bare!(it));
    }
    fn visit_impl_item_const(&mut self, it: &'ast ImplItemConst) {
        self.add(&it.ident.to_string(), "constant", bare!(it));
    }
    fn visit_item_static(&mut self, it: &'ast ItemStatic) {
        let name = it.ident.to_string();
        self.add(&name, "variable", bare!(it));
        self.within(&name, true, |inner| visit::visit_item_static(inner, it));
    }
    fn visit_foreign_item_static(&mut self, it: &'ast ForeignItemStatic) {
        self.add(&it.ident.to_string(), "variable", bare!(it));
    }
    fn visit_item_macro(&mut self, it: &'ast ItemMacro) {
        if let Some(name) = &it.ident {
            self.add(&name.to_string(), "macro", bare!(it));
        }
        self.visit_condition(&it.mac, |items| items);
    }
    fn visit_foreign_item_macro(&mut self, it: &'ast ForeignItemMacro) {
        self.visit_condition(&it.mac, |items| quote! { extern "C" { #items } });
    }
    fn visit_item_mod(&mut self, it: &'ast ItemMod) {
        let name = it.ident.to_string();
        if it.content.is_none() {
            let mut bare = it.clone();
            bare.attrs.clear();
            let file = it.attrs.iter().find_map(file_of);
            let alias = file.as_ref().map(|_| name.as_str());
            return self.import(lines(&[], bare.to_token_stream()).0, &name, file.as_deref(), alias);
        }
        self.add(&name, "module", bare!(it));
        self.within(&name, false, |inner| visit::visit_item_mod(inner, it));
    }
    fn visit_item_extern_crate(&mut self, it: &'ast ItemExternCrate) {
        let mut bare = it.clone();
        bare.attrs.clear();
        let alias = it.rename.as_ref().map(|(_, name)| name.to_string());
        self.import(lines(&[], bare.to_token_stream()).0, &it.ident.to_string(), None, alias.as_deref());
    }
    fn visit_item_use(&mut self, it: &'ast ItemUse) {
        let mut bare = it.clone();
        bare.attrs.clear();
        let lead = if it.leading_colon.is_some() { "::" } else { "" };
        self.used(&it.tree, lines(&[], bare.to_token_stream()).0, "", lead);
    }
}

/// The file that `#[path = "..."]` names.
fn file_of(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let Expr::Lit(ExprLit { lit: Lit::Str(file), .. }) = &pair.value else { return None };
    pair.path.is_ident("path").then(|| file.value())
}
