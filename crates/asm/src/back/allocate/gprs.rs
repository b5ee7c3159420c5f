//! Numbering of general-purpose registers within their banks.
//!
//! A bank has 128 registers. A context sees `budget` of them (16 with eight contexts, 32 with four)
//! by relative numbers; absolute numbers reach all 128. Absolute register n is thus relative
//! register n mod `budget` of context n / `budget`:
//!
//! ```text
//!   relative number (row)   0    1    2   ...  15
//!   context 0              @0   @1   @2   ... @15
//!   context 1             @16  @17  @18   ... @31
//!   ...
//!   context 7            @112 @113 @114   ... @127
//! ```
//!
//! A relative name has its number in every context at once, a whole column of the picture. An
//! absolute name takes one place of a column, which excludes that number for all relative names.
//! The code below calls such a column a *row* of the bank, and represents sets of rows as bit
//! masks.

use npsim_isa::{Bank, Operand};

use super::colouring::Graph;
use super::{AllocationProblem, Assignment, Interference, bank_name, banks};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::program::VariableId;
use crate::middle::scope::RegisterFile;

/// Numbers absolute and context-relative registers.
pub fn allocate(
    problem: &AllocationProblem<'_>,
    interference: &Interference,
    banks: &[Bank],
    assignment: &mut Assignment,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for bank in [Bank::A, Bank::B] {
        let rows = absolutes(problem, banks, bank, assignment, diagnostics);
        relatives(
            problem,
            interference,
            banks,
            bank,
            rows,
            assignment,
            diagnostics,
        );
    }
}

/// Returns the relative numbers that the physical names of a bank occupy, and the rows that its
/// physical absolute names occupy.
fn physical_rows(problem: &AllocationProblem<'_>, bank: Bank) -> (u32, u32) {
    let budget = problem.budget();
    let mut relative = 0;
    let mut absolute = 0;
    for operand in problem.physical {
        match *operand {
            Operand::Gpr(b, n) if b == bank => relative |= 1 << n,
            Operand::GprAbsolute(b, n) if b == bank => absolute |= 1 << (n % budget),
            _ => {}
        }
    }
    (relative, absolute)
}

/// Numbers the absolute registers; returns the rows that no relative register may use.
fn absolutes(
    problem: &AllocationProblem<'_>,
    banks: &[Bank],
    bank: Bank,
    assignment: &mut Assignment,
    diagnostics: &mut Vec<Diagnostic>,
) -> u32 {
    let budget = problem.budget();
    let (relative, mut rows) = physical_rows(problem, bank);
    let mut taken = [false; 128];
    for operand in problem.physical {
        if let Operand::GprAbsolute(b, n) = *operand
            && b == bank
        {
            taken[n as usize] = true;
        }
    }
    let wanted: Vec<VariableId> = problem
        .variables(RegisterFile::Absolute)
        .filter(|&id| banks[id] == bank)
        .collect();
    // Relative registers with a preset number keep their row.
    let mut fixed_rows = relative;
    for id in problem.variables(RegisterFile::Gpr) {
        if let (true, Some((_, n))) = (banks[id] == bank, problem.symbols.variables[id].fixed) {
            fixed_rows |= 1u32.checked_shl(u32::from(n)).unwrap_or(0);
        }
    }
    for &id in &wanted {
        if let Some((_, n)) = problem.symbols.variables[id].fixed {
            let place = problem.symbols.variables[id].place;
            if std::mem::replace(&mut taken[n as usize], true) {
                diagnostics.push(
                    place
                        .error(
                            codes::ADDRESS_TAKEN,
                            format!(
                                "the absolute register {n} of bank {} has two names",
                                bank_name(bank)
                            ),
                        )
                        .help("give each name its own number"),
                );
            }
            rows |= 1 << (n % budget);
            assignment.registers[id] = Some(Operand::GprAbsolute(bank, n));
        }
    }
    for &id in &wanted {
        if assignment.registers[id].is_some() {
            continue;
        }
        let free = (0..128_u8).filter(|&n| {
            let row = 1u32 << (n % budget);
            !taken[n as usize] && fixed_rows & row == 0
        });
        // Prefer rows that are already lost, then whole rows from 0 up.
        let free = free.min_by_key(|n| (rows & (1 << (n % budget)) == 0, n % budget, *n));
        let Some(n) = free else {
            let variable = &problem.symbols.variables[id];
            diagnostics.push(
                variable
                    .place
                    .error(
                        codes::TOO_MANY_REGISTERS,
                        format!(
                            "no absolute register is left in bank {} for `{}`",
                            bank_name(bank),
                            variable.name
                        ),
                    )
                    .note(format!(
                        "{} absolute registers are requested in this bank; it has 128, shared with the context-relative ones.",
                        wanted.len()
                    ))
                    .help("keep shared values in local memory"),
            );
            break;
        };
        taken[n as usize] = true;
        rows |= 1 << (n % budget);
        assignment.registers[id] = Some(Operand::GprAbsolute(bank, n));
    }
    rows
}

/// Numbers the context-relative registers of a bank by colouring their interference graph; `rows`
/// are those taken by absolute registers ([`absolutes`]).
///
/// Nodes of the graph are positions in `nodes`, not variables. A private register shares its number
/// with no other, regardless of data flow: it interferes with every node.
fn relatives(
    problem: &AllocationProblem<'_>,
    interference: &Interference,
    banks: &[Bank],
    bank: Bank,
    rows: u32,
    assignment: &mut Assignment,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let budget = problem.budget();
    let (relative, _) = physical_rows(problem, bank);
    let all = u32::MAX >> (u32::BITS - u32::from(budget));
    let usable = all & !relative & !rows;
    let nodes: Vec<VariableId> = problem
        .variables(RegisterFile::Gpr)
        .filter(|&id| banks[id] == bank)
        .collect();
    let mut allowed = Vec::with_capacity(nodes.len());
    for &id in &nodes {
        let variable = &problem.symbols.variables[id];
        allowed.push(match variable.fixed {
            None => usable,
            Some((_, n)) if n >= budget || rows & (1 << n) != 0 => {
                diagnostics.push(
                    variable
                        .place
                        .error(
                            codes::ADDRESS_TAKEN,
                            format!(
                                "`{}` cannot have the number {n} in bank {}",
                                variable.name,
                                bank_name(bank)
                            ),
                        )
                        .note(if n >= budget {
                            format!("A context has {budget} registers in each bank.")
                        } else {
                            "An absolute register occupies this row of the bank.".to_owned()
                        })
                        .help("choose another number"),
                );
                return;
            }
            Some((_, n)) => 1 << n,
        });
    }
    let private = |id: VariableId| problem.symbols.variables[id].private;
    let privates: Vec<usize> = (0..nodes.len()).filter(|&n| private(nodes[n])).collect();
    let mut node_of: Vec<Option<usize>> = vec![None; problem.symbols.variables.len()];
    for (node, &id) in nodes.iter().enumerate() {
        node_of[id] = Some(node);
    }
    let neighbours = nodes
        .iter()
        .enumerate()
        .map(|(n, &id)| {
            let mut others: Vec<usize> = if private(id) {
                (0..nodes.len()).collect()
            } else {
                let together = interference.with(id).into_iter();
                together
                    .filter_map(|other| node_of[other])
                    .chain(privates.iter().copied())
                    .collect()
            };
            if !others.is_sorted() {
                others.sort_unstable();
            }
            others.dedup();
            others.retain(|&other| other != n);
            others
        })
        .collect();
    match (Graph {
        neighbours,
        allowed,
    })
    .colour()
    {
        Ok(colours) => {
            for (&id, n) in nodes.iter().zip(colours) {
                assignment.registers[id] = Some(Operand::Gpr(bank, n));
            }
        }
        Err(node) => diagnostics.push(banks::too_many(
            problem,
            banks,
            bank,
            usable.count_ones() as usize,
            nodes[node],
        )),
    }
}
