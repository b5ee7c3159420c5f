//! What a crate offers to programs, as lines of text: of its own modules each public item with its signature, of
//! crates that it shows under names of its own each module with the names in it.
//!
//! Read from the sources, without a compiler: what macros make is not seen, nor which methods a trait brings.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Fields, ImplItem, Item, Type, UseTree, Visibility};

use crate::modules::ModuleTree;
use crate::workspace::Crate;

/// The public items of the library of the package `name`.
///
/// # Errors
/// There is no such library, or a file of it or of a crate that it shows is not Rust; the message names it.
pub fn surface(crates: &[Crate], name: &str) -> Result<String, String> {
    let libraries: BTreeMap<String, &ModuleTree> = crates
        .iter()
        .filter_map(|member| Some((member.package.replace('-', "_"), library(member)?)))
        .collect();
    let tree = libraries
        .get(&name.replace('-', "_"))
        .ok_or_else(|| format!("{name} has no library"))?;
    let mut listing = Listing::default();
    listing.module(tree, &mut Vec::new(), None)?;
    let shown: BTreeSet<&String> = { listing.used.iter() }
        .filter(|used| libraries.contains_key(*used))
        .collect();
    let mut text = String::new();
    for line in &listing.lines {
        text.push_str(line);
        text.push('\n');
    }
    for library in shown {
        let mut below = Listing {
            names_only: true,
            ..Listing::default()
        };
        below.module(libraries[library], &mut vec![library.clone()], None)?;
        text.push('\n');
        for (module, names) in &below.names {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text.extend([module.as_str(), ": ", &names.join(" "), "\n"]);
        }
    }
    Ok(text)
}

fn library(member: &Crate) -> Option<&ModuleTree> {
    member
        .trees
        .iter()
        .find(|tree| tree.files[0].name.ends_with("lib.rs"))
}

#[derive(Default)]
struct Listing {
    /// Whether a line has the names of a module, rather than an item with its signature.
    names_only: bool,
    lines: BTreeSet<String>,
    /// Types and traits that others see.
    types: BTreeSet<String>,
    /// Names by module, those of the crate's root first.
    names: BTreeMap<String, BTreeSet<String>>,
    /// Crates whose items are shown again.
    used: BTreeSet<String>,
}

impl Listing {
    /// Reads a module: the items that are given, or those of its file. The path of a crate below begins with
    /// its name, which is no module.
    fn module(
        &mut self,
        tree: &ModuleTree,
        path: &mut Vec<String>,
        items: Option<&[Item]>,
    ) -> Result<(), String> {
        let Some(items) = items else {
            let within = &path[usize::from(self.names_only)..];
            let Some(&file) = tree.file_of.get(within) else {
                // What a build script writes is not in the tree.
                return Ok(());
            };
            let source = &tree.files[file];
            let parsed = syn::parse_file(&source.text);
            let parsed = parsed.map_err(|error| format!("{}: {error}", source.name))?;
            return self.module(tree, path, Some(&parsed.items));
        };
        // What a type can do comes after it is known whether others see the type.
        let (blocks, others): (Vec<_>, Vec<_>) = { items.iter() }
            .filter(|item| !is_for_tests(item))
            .partition(|item| matches!(item, Item::Impl(_)));
        for item in others.into_iter().chain(blocks) {
            match item {
                Item::Mod(module) if is_public(&module.vis) => {
                    path.push(module.ident.to_string());
                    let inline = module.content.as_ref().map(|(_, items)| items.as_slice());
                    self.module(tree, path, inline)?;
                    path.pop();
                }
                Item::Use(used) if is_public(&used.vis) => self.shown(path, &used.tree, ""),
                Item::Impl(block) if !self.names_only => self.block(path, block),
                _ => self.item(path, item),
            }
        }
        Ok(())
    }

    /// Notes one item of a module, by its name and what is said of it.
    fn note(&mut self, path: &[String], name: &str, said: &str) {
        if self.names_only {
            let names = self.names.entry(path.join("::")).or_default();
            names.insert(name.to_owned());
        } else {
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            let path: String = path.iter().flat_map(|it| [it, "::"]).collect();
            let kind = said.split(' ').next().unwrap_or_default();
            if ["struct", "enum", "trait"].contains(&kind) {
                self.types.insert(format!("{path}{name}"));
            }
            self.lines.insert(format!("{path}{name}  {said}"));
        }
    }

    /// What `pub use` brings in.
    fn shown(&mut self, path: &[String], tree: &UseTree, from: &str) {
        let noted = |it: &mut Self, name: &str, last: &str| {
            let source = format!("{from}{last}");
            let first = source.split("::").next().unwrap_or_default();
            it.used.insert(first.to_owned());
            it.note(path, name, &format!("use {source}"));
        };
        match tree {
            UseTree::Path(step) => {
                self.shown(path, &step.tree, &format!("{from}{}::", step.ident));
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.shown(path, tree, from);
                }
            }
            UseTree::Name(name) => {
                noted(self, &name.ident.to_string(), &name.ident.to_string());
            }
            UseTree::Rename(name) => {
                noted(self, &name.rename.to_string(), &name.ident.to_string());
            }
            UseTree::Glob(_) => noted(self, "*", "*"),
        }
    }

    fn item(&mut self, path: &[String], item: &Item) {
        match item {
            Item::Fn(it) if is_public(&it.vis) => {
                self.note(path, &it.sig.ident.to_string(), &text(&it.sig));
            }
            Item::Const(it) if is_public(&it.vis) => {
                let said = format!("const {}", text(&it.ty));
                self.note(path, &it.ident.to_string(), &said);
            }
            Item::Static(it) if is_public(&it.vis) => {
                let said = format!("static {}", text(&it.ty));
                self.note(path, &it.ident.to_string(), &said);
            }
            Item::Type(it) if is_public(&it.vis) => {
                let said = format!("type {} = {}", text(&it.generics), text(&it.ty));
                self.note(path, &it.ident.to_string(), &said);
            }
            Item::Struct(it) if is_public(&it.vis) => {
                let name = it.ident.to_string();
                self.note(path, &name, &format!("struct {}", text(&it.generics)));
                self.fields(path, &name, &it.fields);
            }
            Item::Enum(it) if is_public(&it.vis) => {
                let name = it.ident.to_string();
                self.note(path, &name, &format!("enum {}", text(&it.generics)));
                let named = if self.names_only {
                    0
                } else {
                    it.variants.len()
                };
                for variant in it.variants.iter().take(named) {
                    let said = format!("variant {}", text(&variant.fields));
                    self.note(path, &format!("{name}::{}", variant.ident), &said);
                }
            }
            Item::Trait(it) if is_public(&it.vis) => {
                let name = it.ident.to_string();
                let said = format!("trait {}: {}", text(&it.generics), text(&it.supertraits));
                self.note(path, &name, &said);
                let named = if self.names_only { 0 } else { it.items.len() };
                for item in it.items.iter().take(named) {
                    let (own, said) = match item {
                        syn::TraitItem::Fn(it) => (&it.sig.ident, text(&it.sig)),
                        syn::TraitItem::Const(it) => (&it.ident, format!("const {}", text(&it.ty))),
                        syn::TraitItem::Type(it) => {
                            (&it.ident, format!("type {}", text(&it.bounds)))
                        }
                        _ => continue,
                    };
                    self.note(path, &format!("{name}::{own}"), &said);
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, path: &[String], name: &str, fields: &Fields) {
        let named = if self.names_only { 0 } else { fields.len() };
        for (number, field) in fields.iter().enumerate().take(named) {
            if is_public(&field.vis) {
                let own = { field.ident.as_ref() }.map_or(number.to_string(), ToString::to_string);
                self.note(path, &format!("{name}::{own}"), &text(&field.ty));
            }
        }
    }

    /// Public functions of a type, or which trait it has.
    fn block(&mut self, path: &[String], block: &syn::ItemImpl) {
        let Type::Path(target) = &*block.self_ty else {
            return;
        };
        let Some(name) = target.path.segments.last().map(|it| it.ident.to_string()) else {
            return;
        };
        let types: String = path.iter().flat_map(|it| [it, "::"]).collect();
        if !self.types.contains(&format!("{types}{name}")) {
            return;
        }
        if let Some((_, of, _)) = &block.trait_ {
            self.note(path, &name, &format!("impl {}", text(of)));
            return;
        }
        for item in &block.items {
            match item {
                ImplItem::Fn(method) if is_public(&method.vis) => {
                    let said = text(&method.sig);
                    self.note(path, &format!("{name}::{}", method.sig.ident), &said);
                }
                ImplItem::Const(it) if is_public(&it.vis) => {
                    let said = format!("const {}", text(&it.ty));
                    self.note(path, &format!("{name}::{}", it.ident), &said);
                }
                _ => {}
            }
        }
    }
}

/// Whether only tests compile an item.
fn is_for_tests(item: &Item) -> bool {
    let (Item::Mod(syn::ItemMod { attrs, .. })
    | Item::Struct(syn::ItemStruct { attrs, .. })
    | Item::Fn(syn::ItemFn { attrs, .. })
    | Item::Use(syn::ItemUse { attrs, .. })) = item
    else {
        return false;
    };
    attrs
        .iter()
        .filter(|it| it.path().is_ident("cfg"))
        .any(|it| {
            let said = it.meta.to_token_stream().to_string();
            ["cfg (test)", "cfg (doctest)"].contains(&said.as_str())
        })
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Tokens as they are usually set.
fn text(item: &impl ToTokens) -> String {
    let mut text = item.to_token_stream().to_string();
    for (wide, narrow) in [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("& ", "&"),
        ("< ", "<"),
        (" : ", ": "),
    ] {
        text = text.replace(wide, narrow);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(source: &str, names_only: bool) -> Listing {
        let tree = ModuleTree {
            files: Vec::new(),
            file_of: BTreeMap::new(),
        };
        let mut listing = Listing {
            names_only,
            ..Listing::default()
        };
        let file = syn::parse_file(source).unwrap();
        let mut path = vec!["a".to_owned()];
        listing.module(&tree, &mut path, Some(&file.items)).unwrap();
        listing
    }

    const SOURCE: &str = "
        impl Shown { pub fn get(&self) -> u8 { 0 } fn own(&self) {} }
        pub struct Shown { pub field: u8, hidden: u8 }
        struct Hidden;
        impl Hidden { pub fn get(&self) {} }
        impl Clone for Shown { }
        pub(crate) fn inner() {}
        pub mod b { pub use c::{D as E, F}; pub enum G { H(u8) } }
        mod private { pub fn unseen() {} }
        #[cfg(test)]
        pub mod tests { pub fn test() {} }
    ";

    #[test]
    fn what_is_public_is_listed_with_its_signature() {
        let lines: Vec<String> = listed(SOURCE, false).lines.into_iter().collect();
        assert_eq!(
            lines,
            [
                "a::Shown  impl Clone",
                "a::Shown  struct",
                "a::Shown::field  u8",
                "a::Shown::get  fn get(&self) -> u8",
                "a::b::E  use c::D",
                "a::b::F  use c::F",
                "a::b::G  enum",
                "a::b::G::H  variant (u8)",
            ]
        );
    }

    #[test]
    fn of_crates_below_names_are_listed_by_module() {
        let listing = listed(SOURCE, true);
        let names = |module: &str| listing.names[module].iter().cloned().collect::<Vec<_>>();
        assert_eq!(names("a"), ["Shown"]);
        assert_eq!(names("a::b"), ["E", "F", "G"]);
        assert_eq!(listing.names.len(), 2);
        assert!(listing.lines.is_empty());
    }
}
