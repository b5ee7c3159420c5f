//! Source lines and the words generated from them.

use npsim_image::{Image, Origin, same_file};
use serde::Serialize;

/// A source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// Index into [`Image::files`].
    pub file: u32,
    /// Line, from 1.
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

/// A line on the path from the program to a word: in the program, or in a macro used there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceFrame {
    /// The macro, or the program.
    pub name: String,
    /// The macro's arguments by parameter; empty for the program.
    pub arguments: Vec<(String, String)>,
    /// File, as named in the image.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// The macro uses around a word, outermost first, as indices into
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

/// The number of macros around a word.
#[must_use]
pub fn depth(image: &Image, pc: u16) -> usize {
    uses(image, pc).len()
}

/// The frames of a word, innermost first; the last one is the program's. Without a source there is
/// one frame without a line.
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

/// File and line in the program of a label's word, with all macros closed. `None` for a label
/// inside a macro, whose name ends in a dot and the number of the use: its line is in the macro.
#[must_use]
pub fn label_line(image: &Image, label: &str, pc: u16) -> Option<(String, u32)> {
    let outermost = frames(image, pc).pop()?;
    (!label.contains('.') && outermost.line > 0).then_some((outermost.file, outermost.line))
}

/// What a step at a depth treats as one: the macro uses down to that depth, and the line there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepPosition {
    /// The outermost macro uses.
    uses: Vec<u32>,
    /// The line in the innermost of them; `None` if there is no source.
    line: Option<SourceLine>,
    /// The word itself, if there is no source.
    pc: Option<u16>,
}

impl StepPosition {
    /// The position of a word, with at most `depth` macros around it open.
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

    /// The number of open macros that both have in common.
    #[must_use]
    pub fn common(&self, other: &Self) -> usize {
        let both = self.uses.iter().zip(&other.uses);
        both.take_while(|(a, b)| a == b).count()
    }
}

/// The files of an image that a path may refer to.
#[must_use]
pub fn files(image: &Image, path: &str) -> Vec<u32> {
    let named = (0..).zip(&image.files);
    let found = named.filter(|(_, file)| same_file(file, path));
    found.map(|(index, _)| index).collect()
}

/// The words at which a line begins to execute: its own, and the first one of each macro use on it.
#[must_use]
pub fn addresses(image: &Image, line: SourceLine) -> Vec<u16> {
    let count = image.origins.len().min(usize::from(u16::MAX)) as u16;
    let mut found = Vec::new();
    let mut before: Option<StepPosition> = None;
    for pc in 0..count {
        let uses = uses(image, pc);
        let calls = uses
            .iter()
            .map(|used| &image.expansions[*used as usize].call);
        let lines: Vec<_> = calls
            .chain([&image.origins[usize::from(pc)]])
            .map(SourceLine::of)
            .collect();
        // The depth of the line, if the word belongs to it.
        let at = lines.iter().position(|it| *it == line);
        let stand = at.map(|depth| StepPosition::of(image, pc, depth));
        if stand.is_some() && stand != before {
            found.push(pc);
        }
        before = stand;
    }
    found
}

/// The first line at or after this one in its file that has words, if any.
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

/// The lines of a file that have words, directly or through a macro, ascending.
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
