//! Register names and constants of source text, converted to operands and fields of instructions.

use crate::{Bank, ImmedShift, Operand};

/// Returns the register with a physical name such as `a5`, `@b16` or `$$3`.
#[must_use]
pub fn physical_register(name: &str) -> Option<Operand> {
    fn number(digits: &str, limit: u8) -> Option<u8> {
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        digits.parse().ok().filter(|n| *n < limit)
    }
    if let Some(rest) = name.strip_prefix("n$") {
        return number(rest, 32).map(Operand::Nn);
    }
    if let Some(rest) = name.strip_prefix("$$") {
        return number(rest, 32).map(Operand::DTransfer);
    }
    if let Some(rest) = name.strip_prefix('$') {
        return number(rest, 32).map(Operand::STransfer);
    }
    let (absolute, rest) = match name.strip_prefix('@') {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let bank = match rest.as_bytes().first()? {
        b'a' | b'A' => Bank::A,
        b'b' | b'B' => Bank::B,
        _ => return None,
    };
    if absolute {
        number(&rest[1..], 128).map(|n| Operand::GprAbsolute(bank, n))
    } else {
        number(&rest[1..], 32).map(|n| Operand::Gpr(bank, n))
    }
}

/// Returns the 16-bit field, shift and inversion that yield a 32-bit constant; `None` if there are
/// none. Of several ways, the one without inversion is preferred, then the one with the smaller
/// shift.
#[must_use]
pub fn immed_fields(wide: u32) -> Option<(u16, ImmedShift, bool)> {
    for invert in [false, true] {
        let pattern = if invert { !wide } else { wide };
        for (shift, bits) in [
            (ImmedShift::None, 0),
            (ImmedShift::By8, 8),
            (ImmedShift::By16, 16),
        ] {
            let field = pattern >> bits;
            if field <= 0xffff && field << bits == pattern {
                return Some((field as u16, shift, invert));
            }
        }
    }
    None
}
