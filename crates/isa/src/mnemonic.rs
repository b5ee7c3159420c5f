//! Mnemonics with their syntax and forms.

use crate::{
    Access, ByteOrder, CapAccess, CapCsr, CommandOp, Condition, Evidence, FlowClass, Form,
    FormOperand, Format, Generation, Instruction, Leaves, NewerInstruction, Operand, OperandInfo,
    OperandRole, Sequence, Takes, UnaryOp,
};

/// A mnemonic.
#[derive(Clone, Copy, Debug)]
pub struct MnemonicInfo {
    /// Spelling.
    pub name: &'static str,
    /// The generation that brought it; older ones lack it.
    pub since: Generation,
    /// Other spellings of the same instruction.
    pub aliases: &'static [&'static str],
    /// Word format.
    pub class: Format,
    /// Operand shape.
    pub syntax: &'static str,
    /// Meaning in words.
    pub doc: &'static str,
    /// What it does, as a formula.
    pub operation: &'static str,
    /// What the formula leaves open: layout of the result, order of a sequence.
    pub result: Option<&'static str>,
    /// The condition codes, where they are not N and Z of the result with V and
    /// C zero.
    pub flags: Option<&'static str>,
    /// A program that shows it.
    pub example: Option<Example>,
    /// Largest defer count.
    pub max_defer: u8,
    /// What it is inside and does to its neighbours; more than one where that
    /// depends on options.
    pub forms: &'static [Form],
    /// What supports it.
    pub evidence: &'static [Evidence],
    /// What is not confirmed.
    pub uncertain: Option<&'static str>,
}

/// A program without its end.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Microcode with registers by number.
    pub text: &'static str,
    /// Registers and their values after it.
    pub gives: &'static [(&'static str, u32)],
}

include!(concat!(env!("OUT_DIR"), "/mnemonics.rs"));

/// Every mnemonic.
#[must_use]
pub fn mnemonics() -> &'static [MnemonicInfo] {
    &TABLE
}

/// The mnemonic with this spelling or alias, in any letter case.
#[must_use]
pub fn mnemonic(name: &str) -> Option<&'static MnemonicInfo> {
    TABLE.iter().find(|row| row.is_spelt(name))
}

impl MnemonicInfo {
    /// Whether this is a spelling of it, in any letter case.
    #[must_use]
    pub fn is_spelt(&self, name: &str) -> bool {
        self.spellings()
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The name and aliases.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

impl Generation {
    /// Whether its microengines have the instruction of a row.
    ///
    /// # Errors
    /// The instruction is of a later generation.
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
    /// The row that [`mnemonics`] has for it.
    #[must_use]
    pub fn row(&self) -> &'static MnemonicInfo {
        &TABLE[self.place().0]
    }

    /// The form of its row that it has.
    #[must_use]
    pub fn form(&self) -> &'static Form {
        let (row, form) = self.place();
        &TABLE[row].forms[form]
    }

    /// The mnemonic under which [`mnemonics`] lists it.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.row().name
    }

    /// The largest defer count that it accepts.
    #[must_use]
    pub fn defer_limit(&self) -> u8 {
        self.form().max_defer
    }
}
