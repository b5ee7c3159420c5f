//! How many contexts a microengine has, and sets of them.

use crate::ContextMode;

/// Contexts of a microengine. Arrays by context, sets and numbers modulo this follow.
pub const CONTEXTS: u8 = 8;

/// Registers of each bank, and of each kind of transfer register, of a microengine.
const REGISTERS: u8 = 128;

/// A set of contexts: bit c stands for context c. It has exactly as many bits as there are
/// contexts, so that rotating it wraps from the last context to the first.
pub type ContextMask = u8;

/// All contexts.
pub const ALL_CONTEXTS: ContextMask = ContextMask::MAX;

const _: () = assert!(ContextMask::BITS == CONTEXTS as u32);

// What does not follow from the number above.
const _: () = assert!(
    CONTEXTS <= 8,
    "registers, command words and packed records hold a context in three bits: \
     CONTRIBUTING.md names them under `more contexts`"
);

/// The index of a context in an array by context, from its number modulo [`CONTEXTS`]: the
/// remainder spares the check of the array's bounds.
#[must_use]
#[inline]
pub const fn context_index(context: u8) -> usize {
    (context % CONTEXTS) as usize
}

/// The absolute number of a context's first register of a bank, or of a kind of transfer
/// register. It does not depend on the mode: contexts that do not run leave their registers to
/// the one before them.
#[must_use]
#[inline]
pub const fn register_base(context: u8) -> u8 {
    context % CONTEXTS * (REGISTERS / CONTEXTS)
}

/// The absolute number of a context's register, relative to the context; beyond the last
/// register the numbers begin again.
#[must_use]
#[inline]
pub const fn absolute_register(context: u8, register: u8) -> u8 {
    (register_base(context) + register) % REGISTERS
}

impl ContextMode {
    /// Registers that a context has of each bank and of each kind of transfer register.
    #[must_use]
    #[inline]
    pub const fn registers(self) -> u8 {
        match self {
            Self::Four => REGISTERS / 4,
            Self::Eight => REGISTERS / 8,
        }
    }

    /// Contexts from one that runs to the next.
    #[must_use]
    #[inline]
    pub const fn stride(self) -> u8 {
        match self {
            Self::Four => CONTEXTS / 4,
            Self::Eight => CONTEXTS / 8,
        }
    }

    /// The contexts that run.
    #[must_use]
    pub const fn mask(self) -> ContextMask {
        let mut mask = 0;
        let mut context = 0;
        while context < CONTEXTS {
            mask |= 1 << context;
            context += self.stride();
        }
        mask
    }

    /// The context that runs after one, in round robin.
    #[must_use]
    #[inline]
    pub const fn next(self, context: u8) -> u8 {
        (context + self.stride()) % CONTEXTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_context_runs_in_the_mode_of_four() {
        assert_eq!(ContextMode::Four.mask(), 0x55);
        assert_eq!(ContextMode::Eight.mask(), ALL_CONTEXTS);
        assert_eq!(ContextMode::Four.next(6), 0);
        assert_eq!(ContextMode::Eight.next(6), 7);
    }

    #[test]
    fn registers_are_divided_among_the_contexts_that_run() {
        for mode in [ContextMode::Four, ContextMode::Eight] {
            let running = (0..CONTEXTS).filter(|context| mode.mask() >> context & 1 == 1);
            let bases = running.map(register_base);
            assert!(
                bases.eq((0..REGISTERS).step_by(mode.registers().into())),
                "{mode:?}"
            );
        }
        assert_eq!(absolute_register(5, 4), 84);
        assert_eq!(absolute_register(7, 20), 4);
    }
}
