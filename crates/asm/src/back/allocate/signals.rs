//! Numbering of signals.

use super::{AllocationProblem, Assignment, list};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::bit_set::BitSet;
use crate::middle::program::{Item, SignalId};

/// Mask of signals 1 to 15; in a command, 0 means "none".
const ALL: u32 = 0xfffe;

/// Numbers the used signals.
pub fn allocate(
    problem: &AllocationProblem<'_>,
    assignment: &mut Assignment,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let signals = &problem.symbols.signals;
    let used: Vec<SignalId> = (0..signals.len()).filter(|&id| signals[id].used).collect();
    let withheld = problem
        .physical_signals
        .iter()
        .fold(0u32, |mask, n| mask | 1 << n);
    let mut together = vec![BitSet::default(); signals.len()];
    for point in &problem.liveness.signals {
        for id in point.iter() {
            together[id].union_with(point);
        }
    }
    let private =
        |id: SignalId| signals[id].private || problem.liveness.signals_at_entry.contains(id);
    let clash = |left: SignalId, right: SignalId| {
        private(left) || private(right) || together[left].contains(right)
    };
    let mut by_need = used.clone();
    by_need.sort_by_key(|&id| (signals[id].fixed.is_none(), !private(id), id));
    let mut by_size = used.clone();
    by_size.sort_by_key(|&id| {
        (
            signals[id].fixed.is_none(),
            !signals[id].pair,
            !private(id),
            id,
        )
    });
    for order in [by_need, by_size] {
        let mut numbers: Vec<Option<u8>> = vec![None; signals.len()];
        let mask = |id: SignalId, n: u8| {
            if signals[id].pair {
                0b11u32 << n
            } else {
                1 << n
            }
        };
        let complete = order.iter().all(|&id| {
            let taken = (0..signals.len())
                .filter(|&other| other != id && clash(id, other))
                .filter_map(|other| numbers[other].map(|n| mask(other, n)))
                .fold(0, |all, one| all | one);
            let free = (1..=15u8).find(|&n| {
                let wanted = mask(id, n);
                let given = signals[id].fixed;
                given.is_none_or(|fixed| fixed == n)
                    && (!signals[id].pair || n % 2 == 0)
                    && wanted & !ALL == 0
                    && wanted & taken == 0
                    && (given.is_some() || wanted & withheld == 0)
            });
            numbers[id] = free;
            free.is_some()
        });
        if complete {
            assignment.signals = numbers;
            return;
        }
    }
    diagnostics.push(failure(problem, &used, withheld));
}

fn failure(problem: &AllocationProblem<'_>, used: &[SignalId], withheld: u32) -> Diagnostic {
    let signals = &problem.symbols.signals;
    let size = |ids: &[SignalId]| -> usize {
        ids.iter()
            .map(|&id| 1 + usize::from(signals[id].pair))
            .sum()
    };
    let mut worst: (usize, Vec<SignalId>) = (0, Vec::new());
    for (p, point) in problem.liveness.signals.iter().enumerate() {
        let here: Vec<SignalId> = used
            .iter()
            .copied()
            .filter(|&id| {
                signals[id].private
                    || problem.liveness.signals_at_entry.contains(id)
                    || point.contains(id)
            })
            .collect();
        if size(&here) > size(&worst.1) {
            worst = (p, here);
        }
    }
    let (point, names) = worst;
    let mut needed: Vec<&str> = names.iter().map(|&id| signals[id].name.as_str()).collect();
    needed.sort_unstable();
    let available = (ALL & !withheld).count_ones() as usize;
    let place = problem
        .items
        .get(point)
        .and_then(Item::micro)
        .map(|micro| micro.place)
        .or_else(|| used.first().map(|&id| signals[id].place));
    let message = "too many signals are needed at once";
    let diagnostic = match place {
        Some(place) => place.error(codes::TOO_MANY_SIGNALS, message),
        None => unreachable_place(message),
    };
    let over = size(&names).saturating_sub(available);
    diagnostic
        .label(format!(
            "{} numbers are needed here; {available} are available",
            size(&names)
        ))
        .note(format!("That is {over} too many."))
        .note(format!(
            "Needed here: {}.",
            list(needed.into_iter(), 20)
        ))
        .note("A context has signals 1 to 15. A signal of a DRAM command owns an even number and the next.")
        .help("wait for signals sooner, or give the same signal to commands that are awaited together")
}

/// Makes the diagnostic at a placeholder position; never needed in practice, since only programs
/// with signals get here, and these have a declaration to point to.
fn unreachable_place(message: &str) -> Diagnostic {
    Diagnostic::error(
        codes::TOO_MANY_SIGNALS,
        message,
        crate::source::Span {
            file: crate::source::FileId(0),
            lo: 0,
            hi: 0,
        },
        crate::source::ExpansionId::ROOT,
    )
}
