//! The module tree of one crate: which file is which module, from its root down.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::tokens::{FileFacts, ModuleFacts, Segments};

/// A file of a crate's module tree.
#[derive(Debug)]
pub struct SourceFile {
    /// The path below the crate's folder, with `/`.
    pub name: String,
    /// The text.
    pub text: String,
    /// The file whose module declares this one; none for the root.
    pub parent: Option<usize>,
    pub(crate) facts: FileFacts,
}

impl SourceFile {
    /// Names and line numbers of its structures, enumerations, traits and aliases.
    pub fn types(&self) -> impl Iterator<Item = (&str, usize)> {
        self.facts
            .types
            .iter()
            .map(|definition| (definition.name.as_str(), definition.line))
    }

    /// Name, first line and number of lines of its functions.
    pub fn functions(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        self.facts
            .functions
            .iter()
            .map(|function| (function.name.as_str(), function.line, function.lines))
    }

    /// How many functions ask to be inlined always, and how many never.
    #[must_use]
    pub fn inlining(&self) -> (usize, usize) {
        (self.facts.inline_always, self.facts.inline_never)
    }

    /// Whether only tests compile this line, counted from 1.
    #[must_use]
    pub fn is_test_line(&self, line: usize) -> bool {
        self.facts
            .test_lines
            .iter()
            .any(|lines| lines.contains(&line))
    }
}

/// The files and modules of one library or program.
#[derive(Debug)]
pub struct ModuleTree {
    /// The files, the root first.
    pub files: Vec<SourceFile>,
    /// The file that a module's text is in.
    pub(crate) file_of: BTreeMap<Segments, usize>,
}

impl ModuleTree {
    /// Reads the tree that begins at `root`, a file of the crate in `folder`.
    ///
    /// # Errors
    /// A file that cannot be read, or that is not Rust; the message names it.
    pub fn read(folder: &Path, root: &Path) -> Result<Self, String> {
        let mut tree = Self {
            files: Vec::new(),
            file_of: BTreeMap::new(),
        };
        tree.add(folder, root, Vec::new(), None)?;
        Ok(tree)
    }

    fn add(
        &mut self,
        folder: &Path,
        path: &Path,
        module: Segments,
        parent: Option<usize>,
    ) -> Result<(), String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let facts = FileFacts::read(&text, module)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path
            .strip_prefix(folder)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/");
        let file = self.files.len();
        let children: Vec<(Segments, PathBuf)> = facts
            .modules
            .iter()
            .flat_map(|module| {
                module
                    .children
                    .iter()
                    .map(|child| child_file(path, &facts.modules, module, child))
            })
            .collect();
        self.file_of.extend(
            facts
                .modules
                .iter()
                .map(|module| (module.path.clone(), file)),
        );
        self.files.push(SourceFile {
            name,
            text,
            parent,
            facts,
        });
        for (module, path) in children {
            // What a build script writes is not in the tree.
            if path.exists() {
                self.add(folder, &path, module, Some(file))?;
            }
        }
        Ok(())
    }

    pub(crate) fn modules(&self) -> impl Iterator<Item = (usize, &ModuleFacts)> {
        self.files.iter().enumerate().flat_map(|(file, source)| {
            source
                .facts
                .modules
                .iter()
                .map(move |module| (file, module))
        })
    }
}

/// Module and file of a child that `module`, written in the file `path`, declares.
fn child_file(
    path: &Path,
    modules: &[ModuleFacts],
    module: &ModuleFacts,
    (name, given): &(String, Option<String>),
) -> (Segments, PathBuf) {
    let mut segments = module.path.clone();
    segments.push(name.clone());
    let beside = path.parent().unwrap_or(Path::new(""));
    if let Some(given) = given {
        return (segments, beside.join(given));
    }
    let is_door = path
        .file_name()
        .is_some_and(|name| name == "mod.rs" || name == "lib.rs" || name == "main.rs");
    let mut folder = if is_door {
        beside.to_owned()
    } else {
        path.with_extension("")
    };
    // The file's own module is the shortest of those written in it.
    let own = modules
        .iter()
        .map(|module| module.path.len())
        .min()
        .unwrap_or(0);
    folder.extend(&module.path[own..]);
    let flat = folder.join(format!("{name}.rs"));
    let door = folder.join(name).join("mod.rs");
    (segments, if flat.exists() { flat } else { door })
}
