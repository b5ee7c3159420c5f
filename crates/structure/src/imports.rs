//! Imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::modules::ModuleTree;
use crate::tokens::{ModuleFacts, Segments};

/// Names that one file imports from another, by (from, to) as indices of files.
pub type Imports = BTreeMap<(usize, usize), BTreeSet<String>>;

/// Returns all imports between two files of the tree, including those between a parent and
/// its own child.
#[must_use]
pub fn imports(tree: &ModuleTree) -> Imports {
    let names = ImportedNames::new(tree);
    let mut imports = Imports::new();
    for (file, module) in tree.modules() {
        let used = module.uses.iter().map(|(_, path)| path);
        for path in used.chain(&module.mentions) {
            if let Some((target, name)) = names.find(module, path)
                && target != file
            {
                imports.entry((file, target)).or_default().insert(name);
            }
        }
    }
    imports
}

/// Returns the [`imports`] without those between a parent and its own child.
#[must_use]
pub fn imports_across(tree: &ModuleTree) -> Imports {
    let mut imports = imports(tree);
    imports.retain(|&(from, to), _| {
        tree.files[from].parent != Some(to) && tree.files[to].parent != Some(from)
    });
    imports
}

/// Names already looked up, each with the module of the lookup.
type LookupTrail = BTreeSet<(Segments, String)>;

struct ImportedNames<'a> {
    tree: &'a ModuleTree,
    modules: BTreeMap<&'a [String], &'a ModuleFacts>,
}

impl<'a> ImportedNames<'a> {
    fn new(tree: &'a ModuleTree) -> Self {
        Self {
            tree,
            modules: tree
                .modules()
                .map(|(_, module)| (module.path.as_slice(), module))
                .collect(),
        }
    }

    /// Resolves `path`, written in `module`: returns the file that defines the name, and the
    /// name.
    fn find(&self, module: &ModuleFacts, path: &[String]) -> Option<(usize, String)> {
        let (defined_in, name) = self.resolve(&module.path, path, &mut BTreeSet::new())?;
        Some((*self.tree.file_of.get(&defined_in)?, name))
    }

    /// Resolves `path`, written in `module`, to the module that defines the name. `seen`
    /// holds the names looked up so far, by module, since re-exports may be circular.
    fn resolve(
        &self,
        module: &[String],
        path: &[String],
        seen: &mut LookupTrail,
    ) -> Option<(Segments, String)> {
        let first = path.first()?;
        let (mut here, mut at) = match first.as_str() {
            "crate" => (Vec::new(), 1),
            "self" => (module.to_vec(), 1),
            "super" => (module.split_last()?.1.to_vec(), 1),
            _ => (module.to_vec(), 0),
        };
        while path.get(at).is_some_and(|segment| segment == "super") {
            here.pop()?;
            at += 1;
        }
        let relative = at == 0;
        while let Some(segment) = path.get(at) {
            let mut child = here.clone();
            child.push(segment.clone());
            if self.modules.contains_key(child.as_slice()) {
                here = child;
                at += 1;
                continue;
            }
            let facts = self.modules.get(here.as_slice())?;
            if facts.items.contains(segment) {
                break;
            }
            if let Some(found) = self.through_use(facts, &path[at..], seen) {
                return Some(found);
            }
            if relative && at == 0 {
                // A name of another crate, a local one, or a type of the same module.
                return None;
            }
            break;
        }
        Some((here, path.get(at).or(path.last())?.clone()))
    }

    /// Follows `rest` from a name that `facts` imports by `use`.
    fn through_use(
        &self,
        facts: &ModuleFacts,
        rest: &[String],
        seen: &mut LookupTrail,
    ) -> Option<(Segments, String)> {
        let (first, after) = rest.split_first()?;
        if !seen.insert((facts.path.clone(), first.clone())) {
            return None;
        }
        let named = facts
            .uses
            .iter()
            .filter(|(name, _)| name == first)
            .map(|(_, path)| path.clone());
        let all = facts
            .uses
            .iter()
            .filter(|(name, _)| name == "*")
            .map(|(_, path)| {
                let mut path = path.clone();
                path.push(first.clone());
                path
            });
        for (mut path, by_name) in named
            .map(|path| (path, true))
            .chain(all.map(|path| (path, false)))
        {
            // `use super::*` must not lead back to where the search came from.
            path.extend(after.iter().cloned());
            if let Some(found) = self.resolve(&facts.path, &path, seen)
                && (by_name
                    || self
                        .modules
                        .get(found.0.as_slice())
                        .is_some_and(|module| module.items.contains(first)))
            {
                return Some(found);
            }
        }
        None
    }
}
