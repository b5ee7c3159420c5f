//! Numbering of transfer and next-neighbour registers.

use npsim_isa::{Instruction, Operand, TransferRegister};

use super::{AllocationProblem, Assignment, Interference, list};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::middle::program::words;
use crate::middle::program::{Item, Side, VariableId, cell};
use crate::middle::scope::RegisterFile;
use npsim_image::TransferDirection;

/// Maximum number of placements tried before the search fails.
const TRIES: usize = 20_000;

struct TransferSearch<'a> {
    problem: &'a AllocationProblem<'a>,
    interference: &'a Interference,
    blocks: Vec<Vec<VariableId>>,
    withheld: u32,
    numbers: Vec<Option<u8>>,
    tries: usize,
    deepest: usize,
}

/// Numbers the used registers of one file, ordered ones as blocks of consecutive numbers. Names
/// that no `.xfer_order` ties together are blocks of one.
///
/// The search places blocks in order and backtracks, for a limited number of tries, so blocks with
/// the least choice come first: those with a preset number, then the longest. Ties are broken by
/// order of declaration, so that equal sources give equal words.
pub fn allocate(
    problem: &AllocationProblem<'_>,
    interference: &Interference,
    space: RegisterFile,
    assignment: &mut Assignment,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut blocks: Vec<Vec<VariableId>> = problem
        .groups
        .members
        .iter()
        .filter(|members| {
            members.iter().any(|&id| {
                problem.symbols.variables[id].space == space && problem.symbols.variables[id].used
            })
        })
        .cloned()
        .collect();
    let fixed = |block: &Vec<VariableId>| {
        block
            .iter()
            .any(|&id| problem.symbols.variables[id].fixed.is_some())
    };
    blocks.sort_by_key(|block| (!fixed(block), std::cmp::Reverse(block.len()), block[0]));
    let mut search = TransferSearch {
        problem,
        interference,
        blocks,
        withheld: withheld(problem, space),
        numbers: vec![None; problem.symbols.variables.len()],
        tries: 0,
        deepest: 0,
    };
    if !search.place(0) {
        diagnostics.push(search.failure(space));
        return;
    }
    for (id, number) in search.numbers.iter().enumerate() {
        let Some(n) = *number else { continue };
        assignment.registers[id] = Some(match space {
            RegisterFile::S => Operand::STransfer(n),
            RegisterFile::D => Operand::DTransfer(n),
            _ => Operand::Nn(n),
        });
    }
}

/// Returns the mask of numbers that the program uses by name, and of those that commands reach from
/// them.
fn withheld(problem: &AllocationProblem<'_>, space: RegisterFile) -> u32 {
    let mut mask = 0u32;
    for operand in problem.physical {
        match (*operand, space) {
            (Operand::STransfer(n), RegisterFile::S)
            | (Operand::DTransfer(n), RegisterFile::D)
            | (Operand::Nn(n), RegisterFile::NextNeighbour) => mask |= 1 << n,
            _ => {}
        }
    }
    for micro in problem.items.iter().filter_map(Item::micro) {
        let transfer = match &micro.template {
            Instruction::Command(command) => command.transfer,
            Instruction::CapCsr(access) => access.transfer,
            _ => continue,
        };
        let ((TransferRegister::S(first), RegisterFile::S)
        | (TransferRegister::D(first), RegisterFile::D)) = (transfer, space)
        else {
            continue;
        };
        let (pull, push) = words(&micro.template);
        let count = if micro.open_count { 16 } else { pull.max(push) };
        for n in first..first.saturating_add(count).min(32) {
            mask |= 1 << n;
        }
    }
    mask
}

impl TransferSearch<'_> {
    /// Places the blocks from `index` on, with backtracking.
    fn place(&mut self, index: usize) -> bool {
        let Some(block) = self.blocks.get(index).cloned() else {
            return true;
        };
        self.deepest = self.deepest.max(index);
        let budget = self.problem.budget();
        let last = (budget as usize).checked_sub(block.len());
        let Some(last) = last else { return false };
        for base in 0..=last as u8 {
            self.tries += 1;
            if self.tries > TRIES {
                return false;
            }
            if !self.fits(&block, base) {
                continue;
            }
            for (i, &id) in block.iter().enumerate() {
                self.numbers[id] = Some(base + i as u8);
            }
            if self.place(index + 1) {
                return true;
            }
            for &id in &block {
                self.numbers[id] = None;
            }
        }
        false
    }

    fn fits(&self, block: &[VariableId], base: u8) -> bool {
        block.iter().enumerate().all(|(i, &id)| {
            let n = base + i as u8;
            let variable = &self.problem.symbols.variables[id];
            if variable.fixed.is_some_and(|(_, fixed)| fixed != n) {
                return false;
            }
            if variable.fixed.is_none() && self.withheld & (1 << n) != 0 {
                return false;
            }
            self.numbers
                .iter()
                .enumerate()
                .filter(|(_, number)| **number == Some(n))
                .all(|(other, _)| !self.clash(id, other))
        })
    }

    fn clash(&self, left: VariableId, right: VariableId) -> bool {
        let variables = &self.problem.symbols.variables;
        let sides = |id: VariableId| match variables[id].direction {
            TransferDirection::Read => (true, false),
            TransferDirection::Write => (false, true),
            TransferDirection::Both => (true, true),
        };
        let (l, r) = (sides(left), sides(right));
        let meet = l.0 && r.0 || l.1 && r.1;
        meet && (variables[left].private
            || variables[right].private
            || self.interference.between(left, right))
    }

    fn failure(&self, space: RegisterFile) -> Diagnostic {
        let variables = &self.problem.symbols.variables;
        let block = &self.blocks[self.deepest.min(self.blocks.len() - 1)];
        let place = variables[block[0]].place;
        let what = match space {
            RegisterFile::S => "S transfer",
            RegisterFile::D => "D transfer",
            _ => "next-neighbour",
        };
        let budget = self.problem.budget();
        let mut worst: (usize, usize, Side, Vec<VariableId>) = (0, 0, Side::In, Vec::new());
        for (p, point) in self.problem.points().enumerate() {
            for side in [Side::In, Side::Out] {
                let names: Vec<VariableId> = self
                    .problem
                    .variables(space)
                    .filter(|&id| {
                        let has_side = match side {
                            Side::In => variables[id].direction != TransferDirection::Write,
                            Side::Out => variables[id].direction != TransferDirection::Read,
                        };
                        has_side && (variables[id].private || point.contains(cell(id, side)))
                    })
                    .collect();
                if names.len() > worst.0 {
                    worst = (names.len(), p, side, names);
                }
            }
        }
        let (count, point, side, names) = worst;
        let mut needed: Vec<&str> = names
            .iter()
            .map(|&id| variables[id].name.as_str())
            .collect();
        needed.sort_unstable();
        let mut diagnostic = place
            .error(
                codes::TOO_MANY_REGISTERS,
                format!("no room for a block of {} {what} registers", block.len()),
            )
            .label(format!("a context has {budget} of them"))
            .note(format!(
                "At the worst point {count} {} registers are in use: {}.",
                if side == Side::In { "IN" } else { "OUT" },
                list(needed.into_iter(), 40)
            ));
        if count > budget as usize {
            diagnostic = diagnostic.note(format!("That is {} too many.", count - budget as usize));
        }
        if let Some(micro) = self
            .problem
            .items
            .get(AllocationProblem::item_of_point(point))
            .and_then(Item::micro)
        {
            diagnostic = diagnostic.also(
                micro.place.span,
                micro.place.expansion,
                "the worst point is here",
            );
        }
        diagnostic
            .help("wait for the signals of earlier commands sooner, or use the same names again")
    }
}
