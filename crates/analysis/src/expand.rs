//! The expansion of macros.

use npsim_asm::front::token::{spell, split_labels};
use npsim_asm::source::ExpansionId;
use serde::{Deserialize, Serialize};

use super::analysis::Analysis;
use super::workspace::{Spot, Workspace};

/// The expansion of a macro use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expanded {
    /// The macro's name.
    pub name: String,
    /// The statements, one per line.
    pub expansion: String,
}

impl Workspace {
    /// The innermost macro use at a place, fully expanded.
    #[must_use]
    pub fn expansion(&self, spot: &Spot) -> Option<Expanded> {
        { self.analyses_of(&spot.path) }.find_map(|analysis| expanded(analysis, spot))
    }
}

fn expanded(analysis: &Analysis, spot: &Spot) -> Option<Expanded> {
    let (sources, lines) = (&analysis.sources, &analysis.lines);
    let at = spot.offset as u32;
    let here = |number: usize| -> Option<u32> {
        let call = sources.expansions()[number].call;
        let here = analysis.path(call) == Some(&spot.path);
        let touches = here && (call.lo..=call.hi).contains(&at);
        touches.then_some(call.hi - call.lo)
    };
    let (number, _) = (0..sources.expansions().len())
        .filter_map(|number| Some((number, here(number)?)))
        .min_by_key(|(_, length)| *length)?;
    let wanted = ExpansionId(number as u32 + 1);
    let inside = |id: ExpansionId| {
        let parent = |id: &ExpansionId| sources.expansion(*id).map(|it| it.parent);
        std::iter::successors(Some(id), parent).any(|id| id == wanted)
    };
    let mut text = String::new();
    for line in lines.iter().filter(|line| inside(line.expansion)) {
        if split_labels(&line.tokens).0.is_empty() {
            text.push_str("    ");
        }
        text.push_str(&spell(&line.tokens));
        text.push('\n');
    }
    Some(Expanded {
        name: sources.expansion(wanted)?.name.clone(),
        expansion: npsim_asm::format::format(&text),
    })
}
