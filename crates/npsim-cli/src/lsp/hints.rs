//! What the assembler made of a text, said between its words: the register or number
//! behind each declared name, the words of each macro, what a branch throws away.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, Position, Range};
use npsim_asm::name_index::NameKind;
use npsim_asm::source::ExpansionId;
use npsim_image::{Image, Origin};

use super::analysis::Analysis;
use super::text::Text;
use super::workspace::Workspace;

/// The hints for the lines of a range. Where several programs hold the text, the first
/// speaks for all.
#[must_use]
pub fn hints(workspace: &Workspace, path: &Path, range: Range) -> Option<Vec<InlayHint>> {
    let text = workspace.documents.text(path)?;
    let analysis = workspace.about(path).find(|it| it.image().is_some())?;
    let image = analysis.image()?;
    let mut found = names(analysis, path, &text, range);
    found.extend(lines(analysis, image, path, &text));
    found.retain(|hint| (range.start..=range.end).contains(&hint.position));
    found.sort_by_key(|hint| hint.position);
    Some(found)
}

fn hint(place: Position, label: String, kind: Option<InlayHintKind>, before: bool) -> InlayHint {
    InlayHint {
        position: place,
        label: InlayHintLabel::String(label),
        kind,
        text_edits: None,
        tooltip: None,
        padding_left: Some(!before),
        padding_right: Some(before),
        data: None,
    }
}

/// Behind each declared register and signal what it became.
fn names(analysis: &Analysis, path: &Path, text: &Text, range: Range) -> Vec<InlayHint> {
    let symbols = analysis.index.symbols.iter().enumerate();
    let here = symbols.filter(|(_, symbol)| {
        matches!(symbol.kind, NameKind::Register | NameKind::Signal)
            && symbol.expansion == ExpansionId::ROOT
            && analysis.path(symbol.place) == Some(path)
    });
    here.filter_map(|(id, symbol)| {
        let place = text.position(symbol.place.hi as usize);
        let asked = (range.start..=range.end).contains(&place);
        let names = asked.then(|| analysis.places(id))?;
        (!names.is_empty()).then(|| {
            let label = format!("= {}", names.join(", "));
            hint(place, label, Some(InlayHintKind::TYPE), false)
        })
    })
    .collect()
}

/// Behind a line how many words its macro became, or what its branch costs when taken.
fn lines(analysis: &Analysis, image: &Image, path: &Path, text: &str) -> Vec<InlayHint> {
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
    let ends: Vec<Position> = { (0..).zip(text.split('\n')) }
        .map(|(line, shown)| Position::new(line, shown.trim_end().encode_utf16().count() as u32))
        .collect();
    let end = |line: u32| ends.get(line.checked_sub(1)? as usize).copied();
    let macros = words.iter().filter_map(|(line, count)| {
        let plural = if *count == 1 { "" } else { "s" };
        Some(hint(
            end(*line)?,
            format!("{count} word{plural}"),
            None,
            false,
        ))
    });
    let branches = aborted.iter().filter_map(|(line, lost)| {
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        let label = format!("taken: + {}", lost.join(" or "));
        Some(hint(end(*line)?, label, None, false))
    });
    macros.chain(branches).collect()
}

/// Where the outermost macro is used that a word comes through.
fn outermost_use(image: &Image, origin: &Origin) -> Option<Origin> {
    let outer = |origin: &Origin| Some(image.expansions.get(origin.expansion? as usize)?.call);
    std::iter::successors(outer(origin), outer).last()
}
