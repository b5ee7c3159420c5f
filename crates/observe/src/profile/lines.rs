//! A profile by source line and by macro, combining microengines that run the
//! same source.

use std::collections::{BTreeMap, BTreeSet};

use npsim_image::Image;

use super::{CycleBreakdown, MicroengineProfile, Profile};

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCycles {
    /// The file, as named by the assembler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Cycles of the words that the line itself generates.
    pub own: CycleBreakdown,
    /// Cycles including those of the macros that it uses.
    pub all: CycleBreakdown,
    /// Words of both kinds, in all microengines.
    pub words: u32,
}

/// A macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroCycles {
    /// Name.
    pub name: String,
    /// Number of uses in the source that generated words.
    pub uses: usize,
    /// Cycles of the words of all uses, including those of nested macros.
    pub all: CycleBreakdown,
    /// Words, in all microengines.
    pub words: u32,
}

/// Microengines that run the same source.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// The source.
    pub source: &'a str,
    /// The microengines.
    pub microengines: Vec<&'a MicroengineProfile>,
    /// Cycles of all contexts of all of them.
    pub spent: CycleBreakdown,
    /// The lines, sorted by file and line.
    pub lines: Vec<LineCycles>,
    /// The macros, sorted by name.
    pub macros: Vec<MacroCycles>,
}

/// The stages of a profile, in the order of their first microengines.
#[must_use]
pub fn stages(profile: &Profile) -> Vec<Stage<'_>> {
    let mut groups: Vec<(&str, Vec<&MicroengineProfile>)> = Vec::new();
    for me in &profile.microengines {
        let name = me.image.name.as_str();
        match groups.iter_mut().find(|group| group.0 == name) {
            Some(group) => group.1.push(me),
            None => groups.push((name, vec![me])),
        }
    }
    groups
        .into_iter()
        .map(|(source, microengines)| stage(source, microengines))
        .collect()
}

/// What is known about a macro so far.
#[derive(Default)]
struct Uses {
    /// The microengine's index in the stage and the number of the use.
    places: BTreeSet<(usize, u32)>,
    all: CycleBreakdown,
    words: u32,
}

/// The profile of the microengines that run one source.
///
/// A word of the program comes from a line, which may be inside a macro, which was used on another
/// line, and so on (`chain`, innermost first). Its cycles count once for every line and macro of
/// the chain (`all`), so these sums exceed the total; `own` counts them only for the innermost
/// line. `named` and `placed` ensure that recursion counts a word only once.
fn stage<'a>(source: &'a str, microengines: Vec<&'a MicroengineProfile>) -> Stage<'a> {
    let mut lines = BTreeMap::new();
    let mut macros: BTreeMap<&str, Uses> = BTreeMap::new();
    let mut spent = CycleBreakdown::default();
    for (number, me) in microengines.iter().enumerate() {
        spent.add(&me.spent());
        for (address, word) in me.words.iter().enumerate() {
            let mut named = BTreeSet::new();
            let mut placed = BTreeSet::new();
            for (depth, place) in chain(&me.image, address).into_iter().enumerate() {
                if let Some((file, line)) = place.line
                    && placed.insert((file, line))
                {
                    let entry = lines.entry((file, line)).or_insert_with(|| LineCycles {
                        file: file.to_owned(),
                        line,
                        own: CycleBreakdown::default(),
                        all: CycleBreakdown::default(),
                        words: 0,
                    });
                    if depth == 0 {
                        entry.own.add(word);
                    }
                    entry.all.add(word);
                    entry.words += 1;
                }
                if let Some((name, expansion)) = place.within {
                    let entry = macros.entry(name).or_default();
                    entry.places.insert((number, expansion));
                    if named.insert(name) {
                        entry.all.add(word);
                        entry.words += 1;
                    }
                }
            }
        }
    }
    Stage {
        source,
        microengines,
        spent,
        lines: lines.into_values().collect(),
        macros: macros
            .into_iter()
            .map(|(name, it)| MacroCycles {
                name: name.to_owned(),
                uses: it.places.len(),
                all: it.all,
                words: it.words,
            })
            .collect(),
    }
}

/// A source location that a word comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordOrigin<'a> {
    /// File and line.
    pub line: Option<(&'a str, u32)>,
    /// The macro that contains the location and the number of its use, if any.
    pub within: Option<(&'a str, u32)>,
}

/// The source locations that a word comes from: its own line, then the use of
/// the macro that contains it, and so on outward. Empty if nothing is known.
#[must_use]
pub fn chain(image: &Image, address: usize) -> Vec<WordOrigin<'_>> {
    let mut places = Vec::new();
    let mut origin = image.origins.get(address);
    while let Some(here) = origin {
        let used = here
            .expansion
            .and_then(|index| Some((index, image.expansions.get(index as usize)?)));
        places.push(WordOrigin {
            line: image
                .files
                .get(here.file as usize)
                .map(|file| (file.as_str(), here.line)),
            within: used.map(|(index, it)| (it.name.as_str(), index)),
        });
        origin = used.map(|(_, it)| &it.call);
    }
    places
}
