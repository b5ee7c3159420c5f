//! One root assembled, with everything that questions about it need.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use npsim_asm::source::FileId;
use npsim_asm::{Diagnostic, SourceMap, Span};
use npsim_image::Image;

use super::documents::{Documents, Overlay};
use super::index::Index;
use super::paths::canonical;
use super::roots::Root;
use super::scan::{Definitions, definitions};
use crate::includes::FileIncludes;

/// What is known of a root.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The root.
    pub root: Root,
    /// The program, if it has no errors.
    pub image: Option<Image>,
    /// What the assembler said.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that it read.
    pub sources: SourceMap,
    /// Registers, signals and labels.
    pub index: Index,
    /// Canonical path of each file of `sources`; none for the command line.
    pub paths: Vec<Option<PathBuf>>,
    /// Macros and names of each text, by its canonical path.
    pub definitions: BTreeMap<PathBuf, Definitions>,
}

impl Analysis {
    /// Assembles a root; `None` if the assembler came to grief over it.
    #[must_use]
    pub fn new(root: &Root, documents: &Documents) -> Option<Self> {
        let includes = Overlay {
            documents,
            files: FileIncludes::new(root.include.clone()),
        };
        let main = root.main.display().to_string();
        // A text that is being typed must never end the server.
        let run = || {
            let assembly = npsim_asm::assemble(&main, &includes, &root.options);
            let mut sources = SourceMap::default();
            let mut ignored = Vec::new();
            let preprocessed = npsim_asm::front::preprocess::preprocess(
                &main,
                &includes,
                &root.options,
                &mut sources,
                &mut ignored,
            );
            let index = Index::new(&preprocessed.lines, &sources);
            (assembly, index)
        };
        let (assembly, index) = catch_unwind(AssertUnwindSafe(run)).ok()?;
        let sources = assembly.sources;
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut texts = BTreeMap::new();
        let mut paths = Vec::new();
        for file in sources.files() {
            if file.path == "<command line>" {
                paths.push(None);
                continue;
            }
            let path = known
                .entry(file.path.clone())
                .or_insert_with(|| canonical(Path::new(&file.path)))
                .clone();
            texts
                .entry(path.clone())
                .or_insert_with(|| definitions(&file.text));
            paths.push(Some(path));
        }
        Some(Self {
            root: root.clone(),
            image: assembly.image,
            diagnostics: assembly.diagnostics,
            sources,
            index,
            paths,
            definitions: texts,
        })
    }

    /// Whether the file is part of the program.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.definitions.contains_key(path)
    }

    /// The file's numbers; a file that is included twice has two.
    pub fn files(&self, path: &Path) -> impl Iterator<Item = FileId> {
        self.paths
            .iter()
            .enumerate()
            .filter(move |(_, known)| known.as_deref() == Some(path))
            .map(|(at, _)| FileId(at as u32))
    }

    /// The path of a span's file.
    #[must_use]
    pub fn path(&self, span: Span) -> Option<&Path> {
        self.paths.get(span.file.0 as usize)?.as_deref()
    }

    /// The text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let text = &self.sources.file(span.file).text;
        text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// The physical registers or the number that the allocator chose for a
    /// symbol, in words; empty if the program has errors.
    #[must_use]
    pub fn allocation(&self, symbol: usize) -> Vec<String> {
        use super::index::Kind;
        let Some(image) = &self.image else {
            return Vec::new();
        };
        let symbol = &self.index.symbols[symbol];
        let is_it = |name: &str, scope: u32| {
            let array = name
                .strip_prefix(symbol.name.as_str())
                .is_some_and(|rest| rest.starts_with('['));
            scope as usize == symbol.scope && (name == symbol.name || array)
        };
        match symbol.kind {
            Kind::Register => image
                .registers
                .iter()
                .filter(|row| is_it(&row.name, row.scope))
                .map(|row| format!("`{}` is {}", row.name, row.operand))
                .collect(),
            Kind::Signal => image
                .signals
                .iter()
                .filter(|row| is_it(&row.name, row.scope))
                .map(|row| format!("`{}` is signal {}", row.name, row.number))
                .collect(),
            Kind::Label => {
                let stem = symbol.name.trim_end_matches('#');
                let name = match symbol.expansion.0 {
                    0 => stem.to_owned(),
                    number => format!("{stem}.{number}"),
                };
                let mut rows = image.labels.iter().filter(|row| row.name == name);
                match (rows.next(), rows.next()) {
                    (Some(row), None) => vec![format!("address {}", row.address)],
                    _ => Vec::new(),
                }
            }
            Kind::Import | Kind::Synonym => Vec::new(),
        }
    }
}
