//! Enumerated fields: operators, conditions, states and options.

use crate::{Evidence, Form, Instruction, Operand, OperandRole};

/// A value of an enumeration.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// Value in the word.
    pub code: u8,
    /// Name of the Rust variant.
    pub name: &'static str,
    /// Spelling in microcode.
    pub text: &'static str,
    /// Other accepted spellings.
    pub aliases: &'static [&'static str],
    /// Description, in prose.
    pub doc: &'static str,
    /// Evidence for the value.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

impl CodeInfo {
    /// Whether `text` is this value's spelling or an alias, in any letter case.
    #[must_use]
    pub fn is_spelt(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
            || self.aliases.iter().any(|a| a.eq_ignore_ascii_case(text))
    }
}

/// An enumeration as the reference pages list it.
#[derive(Clone, Copy, Debug)]
pub struct EnumerationInfo {
    /// Name of the type.
    pub name: &'static str,
    /// The field, as `format.field`, whose codes the enumeration lists.
    pub field: &'static str,
    /// Description, in prose.
    pub doc: &'static str,
    /// The values, in table order.
    pub values: &'static [&'static CodeInfo],
}

include!(concat!(env!("OUT_DIR"), "/enums.rs"));

impl InputState {
    /// Returns the state number that the instruction holds, 0-15.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.code()
    }

    /// Returns the state with this number; `None` if there is none.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Self::from_code(number)
    }
}

impl UnaryOp {
    /// Returns the instruction's form from the table.
    #[must_use]
    pub fn form(self) -> &'static Form {
        let bare = Instruction::Unary {
            op: self,
            dest: Operand::None,
            src: Operand::None,
        };
        bare.form()
    }

    /// Whether the instruction has a destination.
    #[must_use]
    pub fn has_dest(self) -> bool {
        self.form().operand(OperandRole::Dest).is_some()
    }

    /// Returns the role of the instruction's source operand.
    #[must_use]
    pub fn source_role(self) -> OperandRole {
        match self.form().operand(OperandRole::Entry) {
            Some(info) => info.role,
            None => OperandRole::Src,
        }
    }
}
