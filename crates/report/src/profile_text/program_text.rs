//! The profile of a program of the core.

use std::cmp::Reverse;
use std::fmt::Write as _;

use npsim_observe::profile::{Profile, ProgramProfile};
use npsim_project::quantity::grouped;
use npsim_session::text_table::TextTable;

use super::{LineLimit, percent};

/// Formats the cycles of the program and of its functions, in tables of at most
/// `width` columns.
pub(super) fn overview(
    profile: &Profile,
    program: &ProgramProfile,
    shown: LineLimit,
    width: usize,
) -> String {
    let spent = program.spent();
    let mut text = format!("\n{} on the general-purpose core\n\n", program.name);
    let parts: Vec<_> = [
        ("instructions", spent.instructions),
        ("accesses", spent.accesses),
        ("repeating a loop in which nothing changes", spent.polling),
        ("waiting for an interrupt", spent.waiting),
        ("waiting for the core", spent.held),
        ("ended", spent.ended),
    ]
    .into_iter()
    .filter(|part| part.1 > 0)
    .map(|(name, cycles)| format!("{} {name}", percent(cycles, profile.cycles)))
    .collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "core: {}\n", parts.join(", "));
    let mut functions = program.functions();
    functions.retain(|it| it.all.busy() + it.all.polling > 0);
    functions.sort_by(|one, other| {
        let key =
            |it: &npsim_observe::profile::FunctionCycles| Reverse((it.own.busy(), it.all.busy()));
        (key(one), &one.function).cmp(&(key(other), &other.function))
    });
    let all = functions.len();
    if let LineLimit::Top(count) = shown {
        functions.truncate(count);
    }
    let heads = [
        "function",
        "of busy",
        "itself",
        "instructions",
        "accesses",
        "with called",
        "looping",
        "calls",
    ];
    let mut table = TextTable::with_numbers(&heads, 1..8);
    let more = all - functions.len();
    for it in functions {
        table.add_row(vec![
            it.function,
            percent(it.own.busy(), spent.busy()),
            grouped(it.own.busy()),
            grouped(it.own.instructions),
            grouped(it.own.accesses),
            grouped(it.all.busy()),
            grouped(it.own.polling),
            grouped(it.calls),
        ]);
    }
    let _ = writeln!(text, "{}", table.fitted(width));
    if more > 0 {
        let _ = writeln!(text, "and {more} functions more (`--profile-lines {all}`)");
    }
    text
}
