//! The rows of the instruction table.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::tables::{Enum, Evidence, Value};

/// Name of the enumeration of instructions with one source.
pub const ONE_SOURCE: &str = "UnaryOp";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MnemonicFile {
    pub operand: Vec<Operand>,
    pub mnemonic: Vec<Mnemonic>,
}

/// A kind of operand, as used in the `operands` lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    pub name: String,
    pub role: String,
    pub access: Access,
    /// Largest value, for numeric operands.
    pub max: Option<u8>,
    /// A noun for the number, as used in messages.
    pub noun: Option<String>,
    pub doc: String,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Read,
    Write,
    Both,
    /// Not a register.
    Text,
}

impl Access {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Read => "Access::Read",
            Self::Write => "Access::Write",
            Self::Both => "Access::Both",
            Self::Text => "Access::Text",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mnemonic {
    pub name: String,
    pub format: String,
    pub syntax: String,
    pub doc: String,
    /// The operation, as a formula.
    pub operation: String,
    /// Details that the formula omits.
    pub result: Option<String>,
    /// Condition codes, if they are not the usual ones.
    pub flags: Option<String>,
    /// An example program; `gives` holds registers after it.
    pub example: Option<String>,
    #[serde(default)]
    pub gives: BTreeMap<String, u32>,
    pub defer: u64,
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The generation that introduced it.
    #[serde(default = "first_generation")]
    pub since: String,
    pub form: Vec<Form>,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

/// Returns the generation of rows that name none: that of the chips for which the tables were made.
fn first_generation() -> String {
    "MEv2".to_owned()
}

/// One of the forms of an instruction; see the head of `mnemonics.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    pub variant: Option<String>,
    #[serde(default)]
    pub when: BTreeMap<String, When>,
    pub code: Option<u64>,
    pub operands: Vec<String>,
    #[serde(default)]
    pub codes: bool,
    #[serde(default)]
    pub leaves: Leaves,
    pub takes: Option<Takes>,
    pub sequence: Option<Sequence>,
    #[serde(default)]
    pub flow: FlowClass,
    pub defer: Option<u64>,
}

/// The value of a field that selects a form.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum When {
    Flag(bool),
    Number(u64),
    Value(String),
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Value(value) => f.write_str(value),
        }
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leaves {
    #[default]
    Nothing,
    A,
    Result,
    Zero,
}

impl Leaves {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Nothing => "Leaves::Nothing",
            Self::A => "Leaves::OperandA",
            Self::Result => "Leaves::Result",
            Self::Zero => "Leaves::Zero",
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Takes {
    Sign,
    Result,
}

impl Takes {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Sign => "Takes::Sign",
            Self::Result => "Takes::Result",
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sequence {
    Align,
    Multiply,
    Count,
}

impl Sequence {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Align => "Sequence::Align",
            Self::Multiply => "Sequence::Multiply",
            Self::Count => "Sequence::Count",
        }
    }
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum FlowClass {
    #[default]
    Next,
    Branch,
    Codes,
    Bit,
    State,
    Jump,
    Arbitration,
    Command,
}

impl FlowClass {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Next => "FlowClass::Next",
            Self::Branch => "FlowClass::Branch",
            Self::Codes => "FlowClass::Codes",
            Self::Bit => "FlowClass::Bit",
            Self::State => "FlowClass::State",
            Self::Jump => "FlowClass::Jump",
            Self::Arbitration => "FlowClass::Arbitration",
            Self::Command => "FlowClass::Command",
        }
    }
}

impl Form {
    /// Returns the operands' names without the mark for optional ones.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().map(|name| name.trim_end_matches('?'))
    }

    pub fn has(&self, wanted: &str) -> bool {
        self.names().any(|name| name == wanted)
    }
}

impl MnemonicFile {
    /// Returns the row for an operand's name.
    pub fn operand(&self, name: &str) -> Option<&Operand> {
        self.operand.iter().find(|row| row.name == name)
    }

    /// Returns the instructions with one source as an enumeration.
    pub fn one_source(&self) -> Enum {
        let mut value = Vec::new();
        for row in &self.mnemonic {
            for code in row.form.iter().filter_map(|form| form.code) {
                value.push(Value {
                    name: super::words::camel(&row.name),
                    code,
                    text: row.name.clone(),
                    unary: false,
                    carry: false,
                    aliases: Vec::new(),
                    doc: row.doc.clone(),
                    evidence: row.evidence.clone(),
                    uncertain: row.uncertain.clone(),
                });
            }
        }
        Enum {
            name: ONE_SOURCE.to_owned(),
            field: "alu.op".to_owned(),
            doc: "The instructions of the `alu` class with one source.".to_owned(),
            value,
        }
    }
}
