//! The structure of the table files.

use serde::Deserialize;

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    Golden,
    Listing,
    OneDisassembler,
    Descendant,
    Manual,
    Library,
    Loader,
    Uncertain,
}

impl Evidence {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Golden => "Golden",
            Self::Listing => "Listing",
            Self::OneDisassembler => "OneDisassembler",
            Self::Descendant => "Descendant",
            Self::Manual => "Manual",
            Self::Library => "Library",
            Self::Loader => "Loader",
            Self::Uncertain => "Uncertain",
        }
    }
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    Flag,
    Uint,
    Enum,
    Address,
    Restricted,
    Unrestricted,
}

impl FieldKind {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Flag => "Flag",
            Self::Uint => "Uint",
            Self::Enum => "Enum",
            Self::Address => "Address",
            Self::Restricted => "Restricted",
            Self::Unrestricted => "Unrestricted",
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    pub lo: u32,
    pub width: u32,
    pub kind: FieldKind,
    pub doc: String,
}

impl Field {
    pub fn mask(&self) -> u64 {
        ((1u64 << self.width.min(63)) - 1) << self.lo.min(63)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatFile {
    pub word_bits: u32,
    pub group: Vec<Group>,
    pub format: Vec<Format>,
    pub record: Vec<Record>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: String,
    pub field: Vec<Field>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    pub name: String,
    pub title: String,
    #[serde(rename = "match")]
    pub pattern: String,
    #[serde(default)]
    pub groups: Vec<String>,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
    pub field: Vec<Field>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub name: String,
    pub title: String,
    pub bits: u32,
    pub doc: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
    pub field: Vec<Field>,
}

impl FormatFile {
    /// Returns the fields of a format, including those of its groups, from the
    /// top down.
    pub fn fields(&self, format: &Format) -> Vec<Field> {
        let mut fields = format.field.clone();
        for name in &format.groups {
            if let Some(group) = self.group.iter().find(|group| &group.name == name) {
                fields.extend(group.field.iter().cloned());
            }
        }
        fields.sort_by_key(|field| u32::MAX - field.lo);
        fields
    }

    /// Returns the width of `owner.field`, where the owner is a group, format
    /// or record.
    pub fn width_of(&self, path: &str) -> Option<u32> {
        let (owner, name) = path.split_once('.')?;
        let groups = self.group.iter().map(|g| (&g.name, &g.field));
        let formats = self.format.iter().map(|f| (&f.name, &f.field));
        let records = self.record.iter().map(|r| (&r.name, &r.field));
        groups
            .chain(formats)
            .chain(records)
            .filter(|(o, _)| *o == owner)
            .flat_map(|(_, fields)| fields)
            .find(|field| field.name == name)
            .map(|field| field.width)
    }
}

/// Returns mask and value of a pattern of 0, 1 and `.`, most significant bit
/// first, whose first character is bit `bits - 1`.
pub fn pattern_bits(pattern: &str, bits: u32) -> (u64, u64) {
    let (mut mask, mut value) = (0, 0);
    for (position, character) in pattern.chars().enumerate() {
        let bit = 1u64 << (bits as usize - 1 - position);
        if character != '.' {
            mask |= bit;
        }
        if character == '1' {
            value |= bit;
        }
    }
    (mask, value)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnumFile {
    #[serde(rename = "enum")]
    pub enums: Vec<Enum>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enum {
    pub name: String,
    pub field: String,
    pub doc: String,
    pub value: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    pub name: String,
    pub code: u64,
    pub text: String,
    /// Whether the operator ignores its first source.
    #[serde(default)]
    pub unary: bool,
    /// Whether the operator adds the carry.
    #[serde(default)]
    pub carry: bool,
    #[serde(default)]
    pub aliases: Vec<String>,
    pub doc: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationFile {
    pub generation: Vec<Generation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    pub name: String,
    pub doc: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperandFile {
    pub form: Vec<Form>,
    pub unused: Vec<Unused>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    pub name: String,
    pub bits: u32,
    pub doc: String,
    pub row: Vec<OperandRow>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum OperandKind {
    Gpr,
    GprAbsolute,
    SIndex,
    SIndexIncrement,
    SIndexDecrement,
    DIndex,
    DIndexIncrement,
    DIndexDecrement,
    STransfer,
    DTransfer,
    #[serde(rename = "lm0")]
    LocalMemory0,
    #[serde(rename = "lm0_increment")]
    LocalMemory0Increment,
    #[serde(rename = "lm0_decrement")]
    LocalMemory0Decrement,
    #[serde(rename = "lm1")]
    LocalMemory1,
    #[serde(rename = "lm1_increment")]
    LocalMemory1Increment,
    #[serde(rename = "lm1_decrement")]
    LocalMemory1Decrement,
    NnPeek,
    NnRing,
    Nn,
    Constant,
    None,
}

impl OperandKind {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Gpr => "Gpr",
            Self::GprAbsolute => "GprAbsolute",
            Self::SIndex => "SIndex",
            Self::SIndexIncrement => "SIndexIncrement",
            Self::SIndexDecrement => "SIndexDecrement",
            Self::DIndex => "DIndex",
            Self::DIndexIncrement => "DIndexIncrement",
            Self::DIndexDecrement => "DIndexDecrement",
            Self::STransfer => "STransfer",
            Self::DTransfer => "DTransfer",
            Self::LocalMemory0 => "LocalMemory0",
            Self::LocalMemory0Increment => "LocalMemory0Increment",
            Self::LocalMemory0Decrement => "LocalMemory0Decrement",
            Self::LocalMemory1 => "LocalMemory1",
            Self::LocalMemory1Increment => "LocalMemory1Increment",
            Self::LocalMemory1Decrement => "LocalMemory1Decrement",
            Self::NnPeek => "NnPeek",
            Self::NnRing => "NnRing",
            Self::Nn => "Nn",
            Self::Constant => "Constant",
            Self::None => "None",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperandRow {
    #[serde(rename = "match")]
    pub pattern: String,
    pub kind: OperandKind,
    pub text: String,
    pub source: bool,
    pub dest: bool,
    pub doc: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unused {
    pub name: String,
    pub form: String,
    pub value: u64,
    pub doc: String,
    pub evidence: Vec<Evidence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandFile {
    pub ignore_error_token: u64,
    pub unit: Vec<Unit>,
    pub command: Vec<Command>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TransferKind {
    S,
    D,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum CountCode {
    MinusOne,
    Raw,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    pub name: String,
    pub variant: String,
    pub format: String,
    pub default_transfer: TransferKind,
    pub count_bytes: u32,
    pub count_code: CountCode,
    pub max_count: u64,
    pub doc: String,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Words {
    Zero,
    One,
    Count,
    CountX2,
    CountX4,
}

impl Words {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Zero => "Zero",
            Self::One => "One",
            Self::Count => "Count",
            Self::CountX2 => "CountTimes2",
            Self::CountX4 => "CountTimes4",
        }
    }
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Signal {
    None,
    Single,
    Pair,
    PullPush,
    PushOdd,
}

impl Signal {
    pub fn variant(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Single => "Single",
            Self::Pair => "Pair",
            Self::PullPush => "PullPush",
            Self::PushOdd => "PushOdd",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    pub op: String,
    pub unit: String,
    pub name: String,
    pub code: u64,
    pub token: u64,
    pub count: bool,
    pub pull: Words,
    pub push: Words,
    pub signal: Signal,
    #[serde(default)]
    pub ignore_error: bool,
    #[serde(default = "yes")]
    pub operands: bool,
    pub doc: String,
    pub operation: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CsrFile {
    pub index_gap: IndexGap,
    pub local: Vec<Csr>,
    pub cap: Vec<Csr>,
    pub msf: Vec<Csr>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexGap {
    pub value: u8,
    pub doc: String,
    pub evidence: Vec<Evidence>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    Lm0,
    Lm1,
    Transfer,
    Byte,
}

impl Index {
    pub fn variant(self) -> &'static str {
        match self {
            Self::Lm0 => "Index::LocalMemory(0)",
            Self::Lm1 => "Index::LocalMemory(1)",
            Self::Transfer => "Index::Transfer",
            Self::Byte => "Index::Byte",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Csr {
    pub name: String,
    pub address: u64,
    #[serde(default)]
    pub index: Vec<Index>,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub first: u64,
    pub count: Option<u64>,
    pub stride: Option<u64>,
    pub doc: String,
    pub evidence: Vec<Evidence>,
    pub uncertain: Option<String>,
}

impl Csr {
    /// Returns all registers of the row, with their addresses.
    pub fn instances(&self) -> Vec<(String, u64)> {
        match self.count {
            None => vec![(self.name.clone(), self.address)],
            Some(count) => (0..count)
                .map(|index| {
                    (
                        self.name.replace('#', &(self.first + index).to_string()),
                        self.address + index * self.stride.unwrap_or(0),
                    )
                })
                .collect(),
        }
    }
}
