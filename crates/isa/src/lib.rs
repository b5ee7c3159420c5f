//! The MEv2 instruction set of the Intel IXP2400/IXP2800 microengines as data.
//!
//! The TOML tables in `isa/` hold every word format, code and register name
//! with the evidence for it. The build script checks them and generates the
//! enumerations, field positions and lookup tables that [`encode`](fn@encode),
//! [`decode`](fn@decode) and the disassembly ([`Instruction`]'s `Display`) use.
//! Only the rules that no table can express are written by hand: which source
//! operand goes through which port, and which field of an instruction plays
//! which logical role.
//!
//! Words have 40 bits. [`parity_bits`] computes the two bits that the host
//! loader adds in the control store.
//!
//! ```
//! let instruction = npsim_isa::decode(0x8ac0503e05)?;
//! assert_eq!(instruction.to_string(), "alu_shf[a5, a5, OR, b15, <<20]");
//! assert_eq!(npsim_isa::encode(&instruction), Ok(0x8ac0503e05));
//! # Ok::<(), npsim_isa::DecodeError>(())
//! ```

#![allow(
    clippy::doc_markdown,
    reason = "table texts are plain, and register names are the field's words"
)]

mod codes;
mod command;
mod context;
mod control_flow;
mod decode;
mod display;
mod encode;
mod error;
mod evidence;
mod facts;
mod format;
mod instruction;
mod mnemonic;
mod names;
mod operand;
mod operand_code;
mod operand_role;
mod parity;
mod port;
mod registers;
mod target;

pub mod raw;
pub mod reference;

#[cfg(test)]
mod table_tests;

pub use codes::*;
pub use command::*;
pub use context::*;
pub use decode::{decode, decode_in, decode_lenient, decode_lenient_in};
pub use encode::{encode, encode_in};
pub use error::{DecodeError, DecodeReason, EncodeError, EncodeErrorKind};
pub use evidence::Evidence;
pub use facts::*;
pub use format::{
    FORMATS, FieldInfo, FieldKind, Format, FormatInfo, RECORDS, RecordInfo, WORD_BITS, WORD_MASK,
};
pub use instruction::*;
pub use mnemonic::{Example, MnemonicInfo, OPERANDS, mnemonic, mnemonics};
pub use names::{immed_fields, physical_register};
pub use operand::*;
pub use operand_code::*;
pub use operand_role::OperandRole;
pub use parity::parity_bits;
pub use registers::{CsrInfo, Index, cap_csr, csr, msf_csr};
pub use target::{ContextMode, Generation, GenerationInfo, NewerInstruction, Target};
