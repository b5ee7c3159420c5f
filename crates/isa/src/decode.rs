//! Decoding words to instructions.

mod control;
mod datapath;
mod memory;

use crate::{
    Bank, ContextMode, DecodeError, DecodeReason, EncodeError, EncodeErrorKind, Format,
    Instruction, Operand, OperandRole, RESTRICTED, Role, Shift, ShiftControl, ShiftCount, Target,
    UNRESTRICTED, WORD_MASK, encode_in, port, raw::Field,
};

/// Decodes a word for the default [`Target`]: MEv2 with eight contexts.
///
/// Only words that [`encode`](crate::encode()) produces are accepted.
///
/// # Errors
/// Returns a [`DecodeError`] that names the bits at fault.
pub fn decode(word: u64) -> Result<Instruction, DecodeError> {
    decode_in(word, Target::default())
}

/// Decodes like [`decode`](crate::decode()), for a given target.
///
/// # Errors
/// Returns a [`DecodeError`] that names the bits at fault.
pub fn decode_in(word: u64, target: Target) -> Result<Instruction, DecodeError> {
    let instruction = parse(word, target.contexts)?;
    match encode_in(&instruction, target) {
        Ok(canonical) if canonical == word => Ok(instruction),
        Ok(canonical) => fail(
            word,
            word ^ canonical,
            DecodeReason::NotCanonical { canonical },
        ),
        Err(error) => refuse(word, error),
    }
}

/// Decodes a word for eight contexts, ignoring the contents of its unused bits. Undefined codes and
/// contradictory fields are still refused.
///
/// # Errors
/// Returns a [`DecodeError`] that names the bits at fault.
pub fn decode_lenient(word: u64) -> Result<Instruction, DecodeError> {
    decode_lenient_in(word, Target::default())
}

/// Decodes like [`decode_lenient`], for a given target.
///
/// # Errors
/// Returns a [`DecodeError`] that names the bits at fault.
pub fn decode_lenient_in(word: u64, target: Target) -> Result<Instruction, DecodeError> {
    let instruction = parse(word, target.contexts)?;
    match encode_in(&instruction, target) {
        Ok(_) => Ok(instruction),
        Err(error) => refuse(word, error),
    }
}

fn fail<T>(word: u64, bits: u64, reason: DecodeReason) -> Result<T, DecodeError> {
    Err(DecodeError { word, bits, reason })
}

/// Refuses a word whose instruction cannot be encoded or belongs to a later generation.
fn refuse<T>(word: u64, error: EncodeError) -> Result<T, DecodeError> {
    match error.kind {
        EncodeErrorKind::NotInGeneration(newer) => {
            fail(word, WORD_MASK, DecodeReason::NotInGeneration(newer))
        }
        _ => fail(
            word,
            blamed_bits(word, error),
            DecodeReason::InvalidCombination(error),
        ),
    }
}

fn parse(word: u64, contexts: ContextMode) -> Result<Instruction, DecodeError> {
    if word & !WORD_MASK != 0 {
        return fail(word, word & !WORD_MASK, DecodeReason::TooWide);
    }
    let Some(format) = Format::of(word) else {
        let top = WORD_MASK & !(WORD_MASK >> 8);
        return fail(word, top, DecodeReason::UnknownClass);
    };
    let word = RawWord(word);
    match format {
        Format::Alu => datapath::alu(word),
        Format::AluShf => datapath::alu_shf(word),
        Format::Immed => datapath::immed(word),
        Format::LdField => datapath::ld_field(word),
        Format::MulStep => datapath::mul_step(word),
        Format::Branch => control::branch(word),
        Format::BrBit => control::branch_bit(word),
        Format::BrByte => control::branch_byte(word),
        Format::Jump => control::jump(word),
        Format::CtxArb => Ok(control::ctx_arb(word)),
        Format::LocalCsr => control::local_csr(word),
        Format::CapCsr => memory::cap_csr(word, contexts),
        Format::Sram
        | Format::Scratch
        | Format::Dram
        | Format::Pci
        | Format::Hash
        | Format::Msf
        | Format::Cap => memory::command(word, format, contexts),
    }
}

/// Returns the bits of the fields that encode the part named by an encoder error.
fn blamed_bits(word: u64, error: EncodeError) -> u64 {
    let Some(format) = Format::of(word) else {
        return WORD_MASK;
    };
    let info = format.info();
    let pair = matches!(
        error.kind,
        EncodeErrorKind::BankConflict { .. }
            | EncodeErrorKind::PathConflict { .. }
            | EncodeErrorKind::TwoConstants
    );
    let names: &[&str] = match error.operand {
        _ if pair => &["a", "b", "swap", "indirect"],
        OperandRole::Dest => &["dest", "dest_bank", "a", "b"],
        OperandRole::A | OperandRole::B | OperandRole::Src | OperandRole::Entry => &["a", "b"],
        OperandRole::Count => &["count"],
        OperandRole::Signal => &[
            "signal",
            "mask",
            "parameter",
            "next",
            "any",
            "keep_mask",
            "breakpoint",
        ],
        OperandRole::Target => &["target", "resume", "base_high"],
        OperandRole::Shift => &["shift", "control"],
        OperandRole::Transfer => &["transfer", "indirect"],
        OperandRole::Defer => &["defer", "next"],
        OperandRole::Value => &["selector", "parameter", "step", "width", "dest", "a", "b"],
        OperandRole::Csr => &["csr"],
        OperandRole::Whole => &["selector", "invert", "width", "step", "token", "a", "b"],
    };
    let bits = info
        .fields
        .iter()
        .filter(|field| names.contains(&field.field.name))
        .fold(0, |bits, field| bits | field.field.mask());
    if bits == 0 {
        WORD_MASK & !info.match_mask
    } else {
        bits
    }
}

/// A word with accessors whose errors name the offending bits.
#[derive(Clone, Copy)]
struct RawWord(u64);

impl RawWord {
    fn get(self, field: Field) -> u64 {
        field.get(self.0)
    }

    fn byte(self, field: Field) -> u8 {
        field.get(self.0) as u8
    }

    fn flag(self, field: Field) -> bool {
        field.flag(self.0)
    }

    fn fail<T>(self, bits: u64, reason: DecodeReason) -> Result<T, DecodeError> {
        fail(self.0, bits, reason)
    }

    fn defined<T>(self, field: Field, value: Option<T>) -> Result<T, DecodeError> {
        match value {
            Some(value) => Ok(value),
            None => self.fail(field.mask(), DecodeReason::Undefined),
        }
    }

    fn wide(self, field: Field, role: Role, bank: Bank) -> Result<Operand, DecodeError> {
        self.defined(
            field,
            UNRESTRICTED.decode(field.get(self.0) as u16, role, bank),
        )
    }

    fn narrow(self, field: Field, role: Role, bank: Bank) -> Result<Operand, DecodeError> {
        self.defined(
            field,
            RESTRICTED.decode(field.get(self.0) as u16, role, bank),
        )
    }

    /// Decodes a restricted source whose constants are extended by the I8 bit.
    fn narrow_i8(self, field: Field, bank: Bank, i8: Field) -> Result<Operand, DecodeError> {
        let operand = self.narrow(field, Role::Source, bank)?;
        Ok(port::with_i8(operand, self.flag(i8)))
    }

    fn shift(self, control: Field, count: Field) -> Result<Shift, DecodeError> {
        let n = self.byte(count);
        let kind = self.defined(control, ShiftControl::from_code(self.byte(control)))?;
        Ok(match (kind, n) {
            (ShiftControl::Rotate, 0) => Shift::None,
            (ShiftControl::Rotate, n) => Shift::RotateRight(n),
            (ShiftControl::Right, 0) => Shift::RightIndirect,
            (ShiftControl::Right, n) => Shift::Right(n),
            (ShiftControl::Left, 0) => Shift::LeftIndirect,
            (ShiftControl::Left, n) => Shift::Left(32 - n),
            (ShiftControl::Double, _) => {
                return self.fail(control.mask(), DecodeReason::Undefined);
            }
        })
    }

    fn count(self, count: Field) -> ShiftCount {
        match self.byte(count) {
            0 => ShiftCount::Indirect,
            n => ShiftCount::By(n),
        }
    }
}
