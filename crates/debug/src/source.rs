//! Source lines and the words that came from them.

use npsim_image::{Image, Origin, same_file};
use serde::Serialize;

/// A line of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// Index into [`Image::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
}

impl SourceLine {
    fn of(origin: &Origin) -> Self {
        Self {
            file: origin.file,
            line: origin.line,
        }
    }
}

/// A line on the way from the program to a word: in the program, or in a macro that was
/// used there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceFrame {
    /// The macro, or the program.
    pub name: String,
    /// What its parameters stand for, none for the program.
    pub arguments: Vec<(String, String)>,
    /// File, as the image names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// The uses of macros around a word, the outermost first, as indices into
/// [`Image::expansions`].
#[must_use]
pub fn uses(image: &Image, pc: u16) -> Vec<u32> {
    let Some(origin) = image.origins.get(usize::from(pc)) else {
        return Vec::new();
    };
    let outer = |used: &u32| image.expansions.get(*used as usize)?.call.expansion;
    let mut uses: Vec<_> = std::iter::successors(origin.expansion, outer).collect();
    uses.reverse();
    uses
}

/// How many macros a word is in.
#[must_use]
pub fn depth(image: &Image, pc: u16) -> usize {
    uses(image, pc).len()
}

/// The frames of a word, innermost first; the last one is the program's. Without a source
/// there is one frame without a line.
#[must_use]
pub fn frames(image: &Image, pc: u16) -> Vec<SourceFrame> {
    let program = image.name.rsplit(['/', '\\']).next().unwrap_or(&image.name);
    let frames = image.frames(pc).into_iter().map(|it| {
        let file = image.files.get(it.origin.file as usize);
        SourceFrame {
            name: it.used.map_or(program, |used| &used.name).to_owned(),
            arguments: it.used.map_or_else(Vec::new, |used| used.arguments.clone()),
            file: file.cloned().unwrap_or_default(),
            line: it.origin.line,
            column: it.origin.column,
        }
    });
    let frames: Vec<SourceFrame> = frames.collect();
    if !frames.is_empty() {
        return frames;
    }
    vec![SourceFrame {
        name: image.name.clone(),
        arguments: Vec::new(),
        file: String::new(),
        line: 0,
        column: 0,
    }]
}

/// File and line of the program at which a word with a label stands, all macros closed that
/// are used there. None for a label of a macro, whose name has the number of its use behind a
/// dot: that stands where the macro has it.
#[must_use]
pub fn label_line(image: &Image, label: &str, pc: u16) -> Option<(String, u32)> {
    let outermost = frames(image, pc).pop()?;
    (!label.contains('.') && outermost.line > 0).then_some((outermost.file, outermost.line))
}

/// What a step at a depth takes for one: the macro uses down to it, and the line there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stand {
    /// The outermost uses of macros.
    uses: Vec<u32>,
    /// The line in the last of them; none where there is no source.
    line: Option<SourceLine>,
    /// The word itself, where there is no source.
    pc: Option<u16>,
}

impl Stand {
    /// Where a word stands, with no more than `depth` macros around it opened.
    #[must_use]
    pub fn of(image: &Image, pc: u16, depth: usize) -> Self {
        let Some(origin) = image.origins.get(usize::from(pc)) else {
            return Self {
                uses: Vec::new(),
                line: None,
                pc: Some(pc),
            };
        };
        let mut uses = uses(image, pc);
        let line = match uses.get(depth) {
            Some(closed) => SourceLine::of(&image.expansions[*closed as usize].call),
            None => SourceLine::of(origin),
        };
        uses.truncate(depth);
        Self {
            uses,
            line: Some(line),
            pc: None,
        }
    }

    /// How many of the macros that are opened both have in common.
    #[must_use]
    pub fn common(&self, other: &Self) -> usize {
        let both = self.uses.iter().zip(&other.uses);
        both.take_while(|(a, b)| a == b).count()
    }
}

/// The files of an image that a path can name.
#[must_use]
pub fn files(image: &Image, path: &str) -> Vec<u32> {
    let named = (0..).zip(&image.files);
    let found = named.filter(|(_, file)| same_file(file, path));
    found.map(|(index, _)| index).collect()
}

/// The words at which a line begins to execute: those that it has itself, and the first
/// one of each use of a macro that it has.
#[must_use]
pub fn addresses(image: &Image, line: SourceLine) -> Vec<u16> {
    let count = image.origins.len().min(usize::from(u16::MAX)) as u16;
    let mut found = Vec::new();
    let mut before: Option<Stand> = None;
    for pc in 0..count {
        let uses = uses(image, pc);
        let calls = uses
            .iter()
            .map(|used| &image.expansions[*used as usize].call);
        let lines: Vec<_> = calls
            .chain([&image.origins[usize::from(pc)]])
            .map(SourceLine::of)
            .collect();
        // How deep the line is, if the word is of it.
        let at = lines.iter().position(|it| *it == line);
        let stand = at.map(|depth| Stand::of(image, pc, depth));
        if stand.is_some() && stand != before {
            found.push(pc);
        }
        before = stand;
    }
    found
}

/// The first line of a file at or after one that has words, if there is one.
#[must_use]
pub fn next_line(image: &Image, line: SourceLine) -> Option<SourceLine> {
    lines(image, line.file)
        .into_iter()
        .find(|it| *it >= line.line)
        .map(|number| SourceLine {
            line: number,
            ..line
        })
}

/// The lines of a file that have words, themselves or through a macro, ascending.
#[must_use]
pub fn lines(image: &Image, file: u32) -> Vec<u32> {
    let calls = image.expansions.iter().map(|it| &it.call);
    let used: std::collections::BTreeSet<_> = (0..image.origins.len() as u16)
        .flat_map(|pc| uses(image, pc))
        .collect();
    let calls = (0..).zip(calls).filter(|(index, _)| used.contains(index));
    let origins = image.origins.iter().chain(calls.map(|it| it.1));
    let mut lines: Vec<_> = origins
        .filter(|it| it.file == file)
        .map(|it| it.line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}
