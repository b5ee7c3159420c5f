//! Allocation of registers and signals.

pub mod banks;
mod colouring;
mod gprs;
mod signals;
#[cfg(test)]
mod tests;
mod transfers;

use npsim_isa::{Bank, Operand};

use crate::diagnostic::Diagnostic;
use crate::middle::bit_set::BitSet;
use crate::middle::groups::Groups;
use crate::middle::liveness::Liveness;
use crate::middle::program::{Item, Side, SignalId, VariableId, cell};
use crate::middle::scope::{RegisterFile, Symbols};
use npsim_image::ContextMode;

/// The allocated numbers.
#[derive(Clone, Debug, Default)]
pub struct Assignment {
    /// The register of each variable; `None` for unused ones.
    pub registers: Vec<Option<Operand>>,
    /// The number of each signal; for a pair, the even one.
    pub signals: Vec<Option<u8>>,
}

impl Assignment {
    /// Returns the register of a variable that an instruction uses.
    ///
    /// # Panics
    /// Panics if the variable has none. In a program allocated without errors, every used variable
    /// has a register.
    #[must_use]
    pub fn register(&self, id: VariableId) -> Operand {
        self.registers[id].expect("allocation gives every used variable a register")
    }

    /// Returns the number of a signal that an instruction uses.
    ///
    /// # Panics
    /// Panics if the signal has none, like [`Self::register`].
    #[must_use]
    pub fn signal(&self, id: SignalId) -> u8 {
        self.signals[id].expect("allocation gives every used signal a number")
    }
}

/// The input of allocation.
pub struct AllocationProblem<'a> {
    /// Instructions and hints.
    pub items: &'a [Item],
    /// Variables and signals.
    pub symbols: &'a Symbols,
    /// The data flow.
    pub liveness: &'a Liveness,
    /// Ordered transfer registers.
    pub groups: &'a Groups,
    /// Context mode.
    pub contexts: ContextMode,
    /// Registers that the program names by number.
    pub physical: &'a [Operand],
    /// Signals that the program names by number.
    pub physical_signals: &'a [u8],
}

impl AllocationProblem<'_> {
    /// Returns how many registers of one kind a context has.
    #[must_use]
    pub fn budget(&self) -> u8 {
        self.contexts.registers()
    }

    /// Returns the set of simultaneously occupied cells at each point.
    pub fn points(&self) -> impl Iterator<Item = &BitSet> {
        self.liveness
            .live_in
            .first()
            .into_iter()
            .chain(&self.liveness.occupied)
    }

    /// Returns the item that precedes a point of [`Self::points`].
    #[must_use]
    pub fn item_of_point(point: usize) -> usize {
        point.saturating_sub(1)
    }

    /// Returns the used variables of a register file.
    pub fn variables(&self, space: RegisterFile) -> impl Iterator<Item = VariableId> + '_ {
        self.symbols
            .variables
            .iter()
            .enumerate()
            .filter(move |(_, variable)| variable.space == space && variable.used)
            .map(|(id, _)| id)
    }

    /// Computes, for each cell, the cells that are occupied at the same time.
    fn interference(&self) -> Vec<BitSet> {
        let cells = self.symbols.variables.len() * 2;
        // In large programs most names hold nothing at any point and need no row.
        let mut adjacent = vec![BitSet::default(); cells];
        for point in self.points() {
            for member in point.iter() {
                adjacent[member].union_with(point);
            }
        }
        adjacent
    }
}

/// The interference relation: pairs of variables that may not share a number.
pub struct Interference {
    cells: Vec<BitSet>,
}

impl Interference {
    /// Whether two variables hold values at the same time on the same side.
    #[must_use]
    pub fn between(&self, left: VariableId, right: VariableId) -> bool {
        [Side::In, Side::Out]
            .into_iter()
            .any(|side| self.cells[cell(left, side)].contains(cell(right, side)))
    }

    /// Returns the variables, including this one, that hold a value at the same time on the same
    /// side, ascending.
    #[must_use]
    pub fn with(&self, id: VariableId) -> Vec<VariableId> {
        let mut all = Vec::new();
        for side in [Side::In, Side::Out] {
            let same_side = move |other: &usize| *other == cell(*other / 2, side);
            let others = self.cells[cell(id, side)].iter().filter(same_side);
            all.extend(others.map(|other| other / 2));
        }
        // The numbers of a single side are already sorted.
        if !all.is_sorted() {
            all.sort_unstable();
        }
        all.dedup();
        all
    }
}

/// Allocates numbers to all variables and signals.
pub fn allocate(problem: &AllocationProblem<'_>, diagnostics: &mut Vec<Diagnostic>) -> Assignment {
    let mut assignment = Assignment {
        registers: vec![None; problem.symbols.variables.len()],
        signals: vec![None; problem.symbols.signals.len()],
    };
    let interference = Interference {
        cells: problem.interference(),
    };
    let banks = banks::assign(problem, diagnostics);
    gprs::allocate(problem, &interference, &banks, &mut assignment, diagnostics);
    for space in [
        RegisterFile::S,
        RegisterFile::D,
        RegisterFile::NextNeighbour,
    ] {
        transfers::allocate(problem, &interference, space, &mut assignment, diagnostics);
    }
    signals::allocate(problem, &mut assignment, diagnostics);
    assignment
}

/// Returns the bank's letter for messages.
#[must_use]
pub const fn bank_name(bank: Bank) -> &'static str {
    match bank {
        Bank::A => "A",
        Bank::B => "B",
    }
}

/// Lists at most `limit` names for a message.
#[must_use]
pub fn list<'a>(names: impl Iterator<Item = &'a str>, limit: usize) -> String {
    let names: Vec<&str> = names.collect();
    let mut text = names
        .iter()
        .take(limit)
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > limit {
        text = format!("{text} and {} more", names.len() - limit);
    }
    text
}
