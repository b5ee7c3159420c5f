//! The expression language of conditions, watchpoints and `print`: C operators over named
//! registers, memories, rings and numbers of the run.
//!
//! ```text
//! bytes > 64 && port == 2          names that are live where the context is
//! $3, $$0, out($3), a4, b0, @a7    registers by number; `out` is the OUT side
//! sram0[0x100], scratch[TABLE], dram[buffer << 8], lm[64], ROUTES[8]
//! ring(RX_RING).fill, queue(FREE).count, signal(done), cam(3).tag, cam(3).state
//! cycle, packet, me, context, pc
//! ```
//!
//! Values are unsigned 32-bit numbers, and addresses are byte addresses; `cycle` and values
//! computed from it are not truncated.

mod evaluate;
mod parse;

pub use evaluate::EvaluationScope;

use crate::error::DebugError;
use crate::names::Memory;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The expression as entered.
    pub text: String,
    node: ExpressionNode,
}

impl std::str::FromStr for Expression {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Self, DebugError> {
        let node = parse::whole(text)?;
        // Only a cycle or a packet number can be that large.
        if let Some(number) = node.too_large().filter(|_| !node.is_long()) {
            return Err(DebugError::new(format!(
                "{number:#x} needs more than 32 bits, and values here have 32"
            ))
            .help("only `cycle` and `packet` may be larger"));
        }
        Ok(Self {
            text: text.trim().to_owned(),
            node,
        })
    }
}

impl std::fmt::Display for Expression {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.text)
    }
}

/// A named location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lvalue {
    /// A longword: the memory and its byte address.
    Word(Memory, u32),
    /// A register of a context.
    Register(npsim_isa::Operand, npsim_image::TransferDirection),
    /// A signal of a context.
    Signal(u8),
}

/// A number of the run or of the selected context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunNumber {
    Cycle,
    Packet,
    Me,
    Context,
    Pc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unary {
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    Left,
    Right,
    Plus,
    Minus,
    Times,
    Over,
    Rest,
}

/// A field written as `name(argument).field`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RingField {
    /// `ring(NAME).fill`
    Fill,
    /// `ring(NAME).size`
    Size,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ExpressionNode {
    Constant(u64),
    Own(RunNumber),
    Name(String),
    Register(npsim_isa::Operand, npsim_image::TransferDirection),
    Out(String),
    Word(Memory, Box<ExpressionNode>),
    Named(String, Box<ExpressionNode>),
    Ring(String, RingField),
    Signal(String),
    Cam(Box<ExpressionNode>, bool),
    Csr(u16),
    Unary(Unary, Box<ExpressionNode>),
    Binary(Binary, Box<ExpressionNode>, Box<ExpressionNode>),
    Choice(
        Box<ExpressionNode>,
        Box<ExpressionNode>,
        Box<ExpressionNode>,
    ),
}

impl ExpressionNode {
    /// The subexpressions.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_)
            | Self::Own(_)
            | Self::Name(_)
            | Self::Register(..)
            | Self::Out(_)
            | Self::Ring(..)
            | Self::Signal(_)
            | Self::Csr(_) => Vec::new(),
            Self::Word(_, inner)
            | Self::Named(_, inner)
            | Self::Cam(inner, _)
            | Self::Unary(_, inner) => vec![inner],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Choice(a, b, c) => vec![a, b, c],
        }
    }

    /// A constant that is too large for any register or longword.
    fn too_large(&self) -> Option<u64> {
        match self {
            Self::Constant(value) => Some(*value).filter(|it| *it > u64::from(u32::MAX)),
            _ => self.parts().into_iter().find_map(Self::too_large),
        }
    }

    /// Whether it contains a number of the run that may be that large.
    fn is_long(&self) -> bool {
        matches!(self, Self::Own(RunNumber::Cycle | RunNumber::Packet))
            || self.parts().into_iter().any(Self::is_long)
    }
}
