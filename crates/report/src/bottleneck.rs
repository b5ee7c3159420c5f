//! Finds what limits a run and describes it, with the numbers behind it.
//!
//! A chip is modelled as a sequence of stages with places between them where work can pile up. The limit lies
//! between a full place and one that is not: a saturated line, microengine or unit, a contended lock or turn,
//! or a stage whose contexts are all asleep. If nothing is full, nothing limits the run, and the most used
//! resource shows how much more traffic would pass.

mod backlog;
mod handoffs;
mod limits;
mod loads;
mod locks;
mod narrative;
mod observed;
mod serial;
mod slack;
mod stage_load;
mod window;
mod wording;

use std::fmt::Write as _;

use serde::Serialize;

pub use limits::{Limit, LimitKind};
pub use loads::{LoadKind, MicroengineShare, ResourceLoad};
pub use observed::{Observed, Stage};
pub use window::AnalysisWindow;

/// The analysis of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Analysis {
    /// The result in one sentence.
    pub headline: String,
    /// The numbers behind it, one sentence each.
    pub evidence: Vec<String>,
    /// Suggested improvements, one sentence each.
    pub advice: Vec<String>,
    /// The limits, most costly first; empty if there are none.
    pub limits: Vec<Limit>,
    /// The load of every resource in the window analysed, most used first.
    pub loads: Vec<ResourceLoad>,
    /// The activity of every microengine of the chip in the window.
    pub shares: Vec<MicroengineShare>,
    /// First cycle of the window.
    pub from: u64,
    /// Last cycle of the window.
    pub to: u64,
    /// How the window was chosen: `while frames were lost`.
    pub when: &'static str,
}

/// Finds what limits a run.
#[must_use]
pub fn analyse(observed: &Observed<'_>) -> Analysis {
    let Some(window) = AnalysisWindow::of(observed.series) else {
        return narrative::never_sampled();
    };
    let loads = loads::loads(&window, u64::from(observed.clusters));
    let mut stages = stage_load::stage_loads(observed, &window);
    let waits = handoffs::waits(observed, &window, &mut stages);
    let locks = locks::saturated(observed, &window);
    let sections = serial::saturated(observed, &window);
    let reasons = limits::LimitCauses {
        stages: &stages,
        waits: &waits,
        locks: &locks,
        sections: &sections,
        backlog: backlog::find(observed, &window),
    };
    let limits = limits::limits(observed, &window, &loads, &reasons);
    narrative::analysis(observed, &window, loads, reasons, limits)
}

/// Formats the analysis as lines for a terminal.
#[must_use]
pub fn as_text(analysis: &Analysis) -> String {
    let mut text = format!("bottleneck   {}\n", analysis.headline);
    let evidence = analysis.evidence.iter().map(|line| ('-', line));
    let advice = analysis.advice.iter().map(|line| ('>', line));
    for (mark, line) in evidence.chain(advice) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "             {mark} {line}");
    }
    text
}

#[cfg(test)]
mod tests;
