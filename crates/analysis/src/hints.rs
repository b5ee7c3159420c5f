//! What the assembler made of a text, said between its words: the register or number
//! behind each declared name, the words of each macro, what a branch throws away.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use npsim_asm::name_index::NameKind;
use npsim_asm::source::ExpansionId;
use npsim_image::{Image, Origin};

use super::analysis::Analysis;
use super::text::Text;
use super::workspace::Workspace;

/// What a place in a text has become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The byte behind which it is shown.
    pub offset: usize,
    /// The text.
    pub label: String,
    /// The hint says what a name stands for.
    pub of_name: bool,
}

impl Workspace {
    /// The hints for bytes of a text. Where several programs hold the text, the first
    /// speaks for all.
    #[must_use]
    pub fn hints(&self, path: &Path, range: &Range<usize>) -> Option<Vec<Hint>> {
        let text = self.documents.text(path)?;
        let analysis = self.about(path).find(|it| it.image().is_some())?;
        let image = analysis.image()?;
        let mut found = names(analysis, path, range);
        found.extend(lines(analysis, image, path, &text));
        found.retain(|hint| (range.start..=range.end).contains(&hint.offset));
        found.sort_by_key(|hint| hint.offset);
        Some(found)
    }
}

/// Behind each declared register and signal what it became.
fn names(analysis: &Analysis, path: &Path, range: &Range<usize>) -> Vec<Hint> {
    let symbols = analysis.index.symbols.iter().enumerate();
    let here = symbols.filter(|(_, symbol)| {
        matches!(symbol.kind, NameKind::Register | NameKind::Signal)
            && symbol.expansion == ExpansionId::ROOT
            && analysis.path(symbol.place) == Some(path)
    });
    here.filter_map(|(id, symbol)| {
        let offset = symbol.place.hi as usize;
        let asked = (range.start..=range.end).contains(&offset);
        let names = asked.then(|| analysis.places(id))?;
        (!names.is_empty()).then(|| Hint {
            offset,
            label: format!("= {}", names.join(", ")),
            of_name: true,
        })
    })
    .collect()
}

/// Behind a line how many words its macro became, or what its branch costs when taken.
fn lines(analysis: &Analysis, image: &Image, path: &Path, text: &Text) -> Vec<Hint> {
    let ours: BTreeSet<u32> = analysis.files(path).map(|file| file.0).collect();
    let mut words: BTreeMap<u32, u32> = BTreeMap::new();
    let mut aborted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    for (address, origin) in image.origins.iter().enumerate() {
        if let Some(call) = outermost_use(image, origin)
            && ours.contains(&call.file)
        {
            *words.entry(call.line).or_default() += 1;
        }
        if ours.contains(&origin.file)
            && let Some(cost) = analysis.costs().get(address)
            && let Some(penalty) = cost.penalty.filter(|penalty| *penalty > 0)
        {
            let lost = penalty.saturating_sub(u64::from(cost.defer));
            aborted.entry(origin.line).or_default().insert(lost);
        }
    }
    let hint = |line: u32, label: String| {
        let start = *text.starts().get(line.checked_sub(1)? as usize)?;
        let line = text[start..].split('\n').next()?;
        Some(Hint {
            offset: start + line.trim_end().len(),
            label,
            of_name: false,
        })
    };
    let macros = words.iter().filter_map(|(line, count)| {
        let plural = if *count == 1 { "" } else { "s" };
        hint(*line, format!("{count} word{plural}"))
    });
    let branches = aborted.iter().filter_map(|(line, lost)| {
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        hint(*line, format!("taken: + {}", lost.join(" or ")))
    });
    macros.chain(branches).collect()
}

/// Where the outermost macro is used that a word comes through.
fn outermost_use(image: &Image, origin: &Origin) -> Option<Origin> {
    let outer = |origin: &Origin| Some(image.expansions.get(origin.expansion? as usize)?.call);
    std::iter::successors(outer(origin), outer).last()
}
