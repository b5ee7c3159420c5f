//! What a macro and a program come to, above them: words, uses, and their share of the time
//! of the last run with a profile.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use npsim_image::Image;

use super::analysis::Analysis;
use super::profile::Shares;
use super::workspace::Workspace;

/// What is said above a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The bytes of the line up to what it is about.
    pub range: Range<usize>,
    /// The text.
    pub title: String,
}

impl Workspace {
    /// A line above the text for each program that it is the source of, and one above each
    /// macro of it.
    #[must_use]
    pub fn lenses(&self, path: &Path) -> Option<Vec<Lens>> {
        let text = self.documents.text(path)?;
        let mut found = Vec::new();
        for analysis in self.about(path).filter(|it| it.root.main == path) {
            let Some(image) = analysis.image() else {
                continue;
            };
            let room = analysis.root.options.control_store_words;
            let project = match &analysis.root.project {
                Some((name, me)) => format!(", microengine {me} of {name}"),
                None => String::new(),
            };
            let words = image.words.len();
            let share = Shares::of(self, analysis);
            let share = share.map_or_else(String::new, |it| format!(", {}", it.program()));
            found.push(Lens {
                range: 0..0,
                title: format!("{words} of {room} words{project}{share}"),
            });
        }
        let images: Vec<&Image> = self.about(path).filter_map(Analysis::image).collect();
        let mut sizes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for image in &images {
            for (used, size) in image.expansions.iter().zip(words_of_uses(image)) {
                sizes.entry(&used.name).or_default().push(size);
            }
        }
        // Of several programs that a profile has, the first one speaks.
        let shares = { self.about(path) }.find_map(|it| Shares::of(self, it));
        for known in &text.definitions().macros {
            let uses = sizes
                .get(known.name.as_str())
                .map_or(&[][..], Vec::as_slice);
            let shown = match (uses.iter().min(), uses.iter().max()) {
                (Some(least), Some(most)) => {
                    let times = if uses.len() == 1 { "use" } else { "uses" };
                    let words = if least == most {
                        words(*most)
                    } else {
                        format!("{least} to {}", words(*most))
                    };
                    let share = shares.as_ref().and_then(|it| it.macro_uses(&known.name));
                    let share = share.map_or_else(String::new, |it| format!(", {it}"));
                    format!("{} {times}, {words} each{share}", uses.len())
                }
                _ if images.is_empty() => continue,
                _ => "not used".to_owned(),
            };
            let at = known.whole.start;
            found.push(Lens {
                range: text.line_start(at)..at,
                title: shown,
            });
        }
        Some(found)
    }
}

fn words(count: usize) -> String {
    format!("{count} word{}", if count == 1 { "" } else { "s" })
}

/// How many words each use of a macro became.
fn words_of_uses(image: &Image) -> Vec<usize> {
    let mut sizes = vec![0; image.expansions.len()];
    for origin in &image.origins {
        let outer = |at: &u32| image.expansions.get(*at as usize)?.call.expansion;
        for number in std::iter::successors(origin.expansion, outer) {
            if let Some(size) = sizes.get_mut(number as usize) {
                *size += 1;
            }
        }
    }
    sizes
}
