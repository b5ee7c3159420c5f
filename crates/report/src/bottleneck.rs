//! What limits a run, in words, with the numbers that say so.
//!
//! A chip is a row of stages with places between them where work piles up. The
//! limit is behind a place that is full and in front of one that is not: a line
//! that is busy all the time, a microengine that is, a unit that a stage waits
//! for, a lock or a turn that they all want, or a stage whose contexts all sleep. Where nothing is full nothing
//! limits, and what comes nearest says how much more would pass.

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
    /// One sentence.
    pub headline: String,
    /// The numbers behind it, a sentence each.
    pub evidence: Vec<String>,
    /// What would help, a sentence each.
    pub advice: Vec<String>,
    /// What limits, the one that costs most first; empty if nothing does.
    pub limits: Vec<Limit>,
    /// How much everything was used in the time analysed, most used first.
    pub loads: Vec<ResourceLoad>,
    /// What every microengine of the chip did in that time.
    pub shares: Vec<MicroengineShare>,
    /// First cycle of the time analysed.
    pub from: u64,
    /// Last cycle of it.
    pub to: u64,
    /// What time it is: `while frames were lost`.
    pub when: &'static str,
}

/// Finds what limits a run.
#[must_use]
pub fn analyse(observed: &Observed<'_>) -> Analysis {
    let Some(window) = AnalysisWindow::of(observed.series) else {
        return narrative::nothing_seen();
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

/// The analysis as lines for a terminal.
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
