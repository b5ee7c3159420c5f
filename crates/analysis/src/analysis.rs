//! A root with everything needed to answer questions about it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use npsim_asm::front::token::LogicalLine;
use npsim_asm::name_index::{NameIndex, NameKind};
use npsim_asm::source::FileId;
use npsim_asm::{Diagnostic, SourceMap, Span};
use npsim_image::{Image, LiveRange, Origin};
use npsim_project::includes::FileIncludes;

use super::assembler::Assembled;
use super::definitions::Definitions;
use super::documents::Documents;
use super::explain::Cost;
use super::paths::canonical;
use super::position::Place;
use super::roots::Root;
use super::text::Text;

/// What is known about a root: what was read at once, and what the assembler reports later.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Identifies this reading among all others.
    pub number: u64,
    /// The root.
    pub root: Root,
    /// The assembler's results; `None` until they are available.
    assembled: Option<Assembled>,
    /// The texts that were read.
    pub sources: SourceMap,
    /// The statements that they contain.
    pub lines: Vec<LogicalLine>,
    /// Registers, signals and labels.
    pub index: NameIndex,
    /// The canonical path of each file of `sources`; `None` for the command line.
    pub paths: Vec<Option<PathBuf>>,
    /// The texts of the files.
    pub texts: Vec<Rc<Text>>,
    /// The parts left out by conditions, outside of macros.
    inactive: Vec<Span>,
    /// The macros and names of each text, by its canonical path.
    pub definitions: BTreeMap<PathBuf, Rc<Definitions>>,
}

impl Analysis {
    /// Reads a root: preprocesses it and indexes its names; `None` if that panics, which is a bug
    /// but must not end the server. `paths` and `texts` are indexed by the number of a file in
    /// `sources`. The results of assembling are added later ([`Self::complete`]).
    #[must_use]
    pub fn new(number: u64, root: &Root, documents: &Documents) -> Option<Self> {
        let includes = FileIncludes::new(documents.files(), &root.include);
        let main = root.main.display().to_string();
        // Text that is being typed must never end the server.
        let run = || {
            let mut sources = SourceMap::default();
            let mut ignored = Vec::new();
            let preprocessed = npsim_asm::front::preprocess::preprocess(
                &main,
                &includes,
                &root.options,
                &mut sources,
                &mut ignored,
            );
            let index = NameIndex::new(&preprocessed.lines, &sources);
            (sources, index, preprocessed)
        };
        let (sources, index, preprocessed) = catch_unwind(AssertUnwindSafe(run)).ok()?;
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut definitions = BTreeMap::new();
        let (mut paths, mut texts) = (Vec::new(), Vec::new());
        for file in sources.files() {
            if file.path == "<command line>" {
                paths.push(None);
                texts.push(Rc::new(Text::new(file.text.as_str())));
                continue;
            }
            let path = known
                .entry(file.path.clone())
                .or_insert_with(|| canonical(Path::new(&file.path)))
                .clone();
            let text = documents.known(&path, &file.text);
            definitions
                .entry(path.clone())
                .or_insert_with(|| Rc::clone(text.definitions()));
            paths.push(Some(path));
            texts.push(text);
        }
        Some(Self {
            number,
            root: root.clone(),
            assembled: None,
            sources,
            index,
            paths,
            texts,
            lines: preprocessed.lines,
            inactive: preprocessed.inactive,
            definitions,
        })
    }

    /// Adds the assembler's results.
    pub fn complete(&mut self, assembled: Assembled) {
        self.assembled = Some(assembled);
    }

    /// Whether the assembler's results are available.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.assembled.is_some()
    }

    /// The program, if it has no errors.
    #[must_use]
    pub fn image(&self) -> Option<&Image> {
        self.assembled.as_ref()?.image.as_ref()
    }

    /// The assembler's messages.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.assembled.as_ref().map_or(&[], |it| &it.diagnostics)
    }

    /// The cost of each word on the project's chip; empty if unknown.
    #[must_use]
    pub fn costs(&self) -> &[Cost] {
        self.assembled.as_ref().map_or(&[], |it| &it.costs)
    }

    /// Whether the file is part of the program.
    #[must_use]
    pub fn has(&self, path: &Path) -> bool {
        self.definitions.contains_key(path)
    }

    /// The numbers of a file; a file that is included twice has two.
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

    /// The place of a span; `None` for the command line.
    #[must_use]
    pub fn place(&self, span: Span) -> Option<Place> {
        let text = self.texts.get(span.file.0 as usize)?;
        Some(text.place(self.path(span)?, span.lo as usize..span.hi as usize))
    }

    /// The text of a span.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let text = &self.sources.file(span.file).text;
        text.get(span.lo as usize..span.hi as usize).unwrap_or("")
    }

    /// The parts left out by conditions in each inclusion of a file: a part counts as left out if
    /// all of them agree.
    pub fn inactive(&self, path: &Path) -> Vec<BTreeSet<(u32, u32)>> {
        let in_file = |file: FileId| {
            let spans = self.inactive.iter().filter(|span| span.file == file);
            spans.map(|span| (span.lo, span.hi)).collect()
        };
        self.files(path).map(in_file).collect()
    }

    /// The registers or numbers allocated to a register or signal, each once.
    #[must_use]
    pub fn places(&self, symbol: usize) -> Vec<String> {
        let Some(image) = self.image() else {
            return Vec::new();
        };
        let symbol = &self.index.symbols[symbol];
        let is_it = |name: &str, scope: u32| scope as usize == symbol.scope && name == symbol.name;
        let mut places: Vec<String> = match symbol.kind {
            NameKind::Register => {
                let rows = image.registers.iter();
                let rows = rows.filter(|row| is_it(&row.name, row.scope));
                rows.map(|row| row.operand.to_string()).collect()
            }
            NameKind::Signal => {
                let rows = image.signals.iter();
                let rows = rows.filter(|row| is_it(&row.name, row.scope));
                rows.map(|row| row.number.to_string()).collect()
            }
            NameKind::Label | NameKind::Import | NameKind::Synonym => Vec::new(),
        };
        let mut seen = BTreeSet::new();
        places.retain(|place| seen.insert(place.clone()));
        places
    }

    /// Addresses of the words that come from a line, directly or through macros.
    fn words_of(&self, image: &Image, path: &Path, line: u32) -> Vec<u16> {
        let here = |origin: &Origin| {
            let file = self.paths.get(origin.file as usize);
            origin.line == line && file.is_some_and(|known| known.as_deref() == Some(path))
        };
        let from_here = |origin: &Origin| {
            let outer =
                |origin: &Origin| Some(image.expansions.get(origin.expansion? as usize)?.call);
            std::iter::successors(Some(*origin), outer).any(|origin| here(&origin))
        };
        let words = (0..).zip(&image.origins);
        words
            .filter(|(_, origin)| from_here(origin))
            .map(|(address, _)| address)
            .collect()
    }

    /// Describes the allocation of a symbol: the registers or the number at a
    /// line or, if the line does not use it, all of them with the words where
    /// each is in use. Empty if the program has errors.
    #[must_use]
    pub fn allocation(&self, symbol: usize, path: &Path, line: u32) -> Vec<String> {
        let Some(image) = self.image() else {
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
            NameKind::Register => {
                let registers = image.registers.iter();
                let registers = registers.filter(|row| is_it(&row.name, row.scope));
                let rows = registers.map(|row| Row {
                    text: format!("`{}` is {}", row.name, row.operand),
                    name: &row.name,
                    live: row.live.iter().chain(&row.live_out).collect(),
                });
                descriptions(rows.collect(), &self.words_of(image, path, line))
            }
            NameKind::Signal => {
                let signals = image.signals.iter();
                let signals = signals.filter(|row| is_it(&row.name, row.scope));
                let rows = signals.map(|row| Row {
                    text: format!("`{}` is signal {}", row.name, row.number),
                    name: &row.name,
                    live: row.live.iter().collect(),
                });
                descriptions(rows.collect(), &self.words_of(image, path, line))
            }
            NameKind::Label => {
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
            NameKind::Import | NameKind::Synonym => Vec::new(),
        }
    }
}

/// A register or number that a name has in part of a program.
struct Row<'a> {
    text: String,
    name: &'a str,
    live: Vec<&'a LiveRange>,
}

/// Maximum number of ranges shown for a register.
const MAX_RANGES: usize = 4;

/// Describes the rows that apply to some of the words, or all rows with their ranges if none does.
fn descriptions(mut rows: Vec<Row<'_>>, words: &[u16]) -> Vec<String> {
    let here = |row: &Row<'_>| {
        let mut live = row.live.iter();
        live.any(|range| words.iter().any(|address| range.touches(*address)))
    };
    if rows.iter().any(here) {
        rows.retain(here);
    }
    let mut descriptions: Vec<String> = rows
        .iter()
        .map(|row| {
            // If a name has a single register, the addresses add nothing.
            let several = rows
                .iter()
                .any(|other| other.name == row.name && other.text != row.text);
            if !several || row.live.is_empty() {
                return row.text.clone();
            }
            let words = |range: &&LiveRange| match (range.first.address, range.last.address) {
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first} to {last}"),
            };
            let mut ranges: Vec<String> = row.live.iter().take(MAX_RANGES).map(words).collect();
            if row.live.len() > MAX_RANGES {
                ranges.push("others".to_owned());
            }
            format!("{} in words {}", row.text, ranges.join(", "))
        })
        .collect();
    let mut seen = BTreeSet::new();
    descriptions.retain(|text| seen.insert(text.clone()));
    descriptions
}
