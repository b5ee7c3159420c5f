//! Mnemonics, with their syntax and forms.

use crate::{
    Access, ByteOrder, CapAccess, CapCsr, CommandOp, Condition, Evidence, FlowClass, Form,
    FormOperand, Format, Generation, Instruction, Leaves, NewerInstruction, Operand, OperandInfo,
    OperandRole, Sequence, Takes, UnaryOp,
};

/// A mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct MnemonicInfo {
    /// Canonical spelling.
    pub name: &'static str,
    /// The generation that introduced it; older ones do not have it.
    pub since: Generation,
    /// Other spellings of the same instruction.
    pub aliases: &'static [&'static str],
    /// Word format.
    pub class: Format,
    /// Operand syntax.
    pub syntax: &'static str,
    /// Description, in prose.
    pub doc: &'static str,
    /// The operation, as a formula.
    pub operation: &'static str,
    /// Details that the formula omits: layout of the result, order of a
    /// sequence.
    pub result: Option<&'static str>,
    /// The condition codes, unless they are N and Z of the result with V and C
    /// zero.
    pub flags: Option<&'static str>,
    /// An example program.
    pub example: Option<Example>,
    /// Largest defer count.
    pub max_defer: u8,
    /// Operands and effects on neighbouring instructions; several forms if
    /// these depend on options.
    pub forms: &'static [Form],
    /// Evidence for the row.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

/// An example program, without the instructions that end it.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Microcode that uses physical registers.
    pub text: &'static str,
    /// Registers and their values after the program.
    pub gives: &'static [(&'static str, u32)],
}

include!(concat!(env!("OUT_DIR"), "/mnemonics.rs"));

/// Returns all mnemonics.
#[must_use]
pub fn mnemonics() -> &'static [MnemonicInfo] {
    &TABLE
}

/// Returns the mnemonic with this spelling or alias, in any letter case.
#[must_use]
pub fn mnemonic(name: &str) -> Option<&'static MnemonicInfo> {
    TABLE.iter().find(|row| row.is_spelt(name))
}

impl MnemonicInfo {
    /// Whether `name` is a spelling of the mnemonic, in any letter case.
    #[must_use]
    pub fn is_spelt(&self, name: &str) -> bool {
        self.spellings()
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns the name and its aliases.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

impl Generation {
    /// Checks that microengines of this generation have the instruction of a
    /// row.
    ///
    /// # Errors
    /// Returns an error if a later generation introduced the instruction.
    pub fn check(self, row: &MnemonicInfo) -> Result<(), NewerInstruction> {
        if row.since <= self {
            return Ok(());
        }
        Err(NewerInstruction {
            mnemonic: row.name,
            since: row.since,
            generation: self,
        })
    }
}

impl Instruction {
    /// Returns the instruction's row in [`mnemonics`].
    #[must_use]
    pub fn row(&self) -> &'static MnemonicInfo {
        &TABLE[self.place().0]
    }

    /// Returns the form of its row that the instruction has.
    #[must_use]
    pub fn form(&self) -> &'static Form {
        let (row, form) = self.place();
        &TABLE[row].forms[form]
    }

    /// Returns the mnemonic under which [`mnemonics`] lists the instruction.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.row().name
    }

    /// Returns the largest defer count that the instruction accepts.
    #[must_use]
    pub fn defer_limit(&self) -> u8 {
        self.form().max_defer
    }
}
