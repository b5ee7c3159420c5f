//! The target that a word is made for: the microengine's generation and its context mode.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Evidence;

/// The table row of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenerationInfo {
    /// The name, as written in chip profiles.
    pub name: &'static str,
    /// Which chips have it, and what distinguishes it.
    pub doc: &'static str,
    /// Evidence for the row.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/generations.rs"));

impl Generation {
    /// Returns the generation with this name, in any letter case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let named = |it: &Self| it.info().name.eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(named)
    }
}

/// The generation of the IXP2400 and the IXP2800.
impl Default for Generation {
    fn default() -> Self {
        Self::MEv2
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// An instruction that a microengine lacks because a later generation introduced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewerInstruction {
    /// The instruction.
    pub mnemonic: &'static str,
    /// The generation that introduced it.
    pub since: Generation,
    /// The generation of the microengine.
    pub generation: Generation,
}

impl fmt::Display for NewerInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is an instruction of {}, which {} does not have",
            self.mnemonic, self.since, self.generation
        )
    }
}

impl std::error::Error for NewerInstruction {}

/// How many contexts run and how the registers are divided among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ContextMode {
    /// Contexts 0, 2, 4 and 6, with 32 general-purpose registers in each bank and 32 transfer
    /// registers of each kind. (The encoding of transfer registers is known from one disassembler
    /// only.)
    Four,
    /// Contexts 0 to 7, with 16 registers of each.
    #[default]
    Eight,
}

impl ContextMode {
    /// Returns the number of contexts that run.
    #[must_use]
    pub const fn contexts(self) -> u8 {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Returns the mode with this number of contexts.
    #[must_use]
    pub const fn with_contexts(contexts: i64) -> Option<Self> {
        match contexts {
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }
}

/// What determines the meaning of a word: generation and context mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// Determines the available instructions.
    pub generation: Generation,
    /// Determines how a command names its transfer register.
    pub contexts: ContextMode,
}

impl Target {
    /// Returns the default generation in a context mode.
    #[must_use]
    pub fn with_mode(contexts: ContextMode) -> Self {
        Self {
            contexts,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MnemonicInfo;
    use crate::{
        DecodeReason, EncodeErrorKind, Instruction, decode_in, decode_lenient_in, encode_in,
        mnemonic,
    };

    const OLD: Target = Target {
        generation: Generation::MEv1,
        contexts: ContextMode::Eight,
    };

    #[test]
    fn generations_are_found_by_name_in_any_case() {
        for generation in Generation::ALL {
            let name = generation.info().name;
            assert_eq!(Generation::from_name(name), Some(generation));
            assert_eq!(
                Generation::from_name(&name.to_lowercase()),
                Some(generation)
            );
        }
        assert_eq!(Generation::from_name("MEv"), None);
        assert!(Generation::ALL.is_sorted());
    }

    #[test]
    fn generations_accept_only_instructions_up_to_their_own() {
        let ffs = mnemonic("ffs").unwrap();
        let next = MnemonicInfo {
            since: Generation::MEv2,
            ..*ffs
        };
        assert_eq!(Generation::MEv2.check(&next), Ok(()));
        let refused = Generation::MEv1.check(&next).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`ffs` is an instruction of MEv2, which MEv1 does not have"
        );
        let first = MnemonicInfo {
            since: Generation::MEv1,
            ..*ffs
        };
        assert_eq!(Generation::MEv2.check(&first), Ok(()));
    }

    #[test]
    fn newer_instructions_are_refused_when_encoding_and_decoding() {
        let nop = Instruction::Nop;
        let newer = OLD.generation.check(nop.row()).unwrap_err();
        let refused = encode_in(&nop, OLD).unwrap_err();
        assert_eq!(refused.kind, EncodeErrorKind::NotInGeneration(newer));
        let word = encode_in(&nop, Target::default()).unwrap();
        for decode in [decode_in, decode_lenient_in] {
            let refused = decode(word, OLD).unwrap_err();
            assert_eq!(refused.reason, DecodeReason::NotInGeneration(newer));
            assert_eq!(
                refused.to_string(),
                "word f0000c0300: `nop` is an instruction of MEv2, which MEv1 does not have"
            );
        }
    }
}
