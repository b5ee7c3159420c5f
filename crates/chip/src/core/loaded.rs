//! A program loaded into a microengine: its image, and the meaning of each of its words in the
//! context mode in which the microengine runs.
//!
//! Words are decoded here and nowhere else, so that all cores execute the same instructions. What a
//! core derives from them, such as the engine's predecoded operations, is private to it and built
//! in [`Core::load`](super::Core::load).

use std::fmt;
use std::sync::Arc;

use npsim_image::{ContextMode, Image};
use npsim_isa::{
    DecodeError, Generation, Instruction, NewerInstruction, Target, decode_lenient_in,
};

use crate::kernel::remote_access::RemoteAccess;
use npsim_profile::Profile;

/// The content of an address: an instruction, or the reason why the word is not a valid one.
pub type DecodedWord = Result<Instruction, DecodeError>;

/// A program that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The program is larger than a control store.
    #[error(
        "program `{name}` has {words} instructions, but a control store holds {most}; shorten it or divide it among microengines"
    )]
    TooLong {
        /// Name of the program.
        name: String,
        /// Length of the program, in words.
        words: usize,
        /// Size of a control store, in words.
        most: usize,
    },
    /// The chip's microengines lack an instruction that the program uses.
    #[error("program `{name}` cannot run on this chip: {newer} ({place})")]
    MissingInstruction {
        /// Name of the program.
        name: String,
        /// Place of the instruction in the source, or its address.
        place: String,
        /// The unsupported instruction.
        newer: NewerInstruction,
    },
}

/// A program with its words decoded for a context mode.
#[derive(Clone)]
pub struct Program {
    image: Arc<Image>,
    target: Target,
    words: Arc<[DecodedWord]>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.image.name)
            .field("words", &self.words.len())
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Decodes an image for the context mode that it was assembled for. Words that are not valid
    /// instructions are kept: they are a fault only when they are executed.
    ///
    /// # Errors
    /// Returns an error if the image is longer than a control store, or has an instruction that the
    /// chip's microengines lack.
    pub fn new(image: &Image, profile: &Profile) -> Result<Self, ProgramError> {
        let most = usize::from(profile.control_store_words());
        if image.words.len() > most {
            return Err(ProgramError::TooLong {
                name: image.name.clone(),
                words: image.words.len(),
                most,
            });
        }
        let generation = profile.generation();
        if let Err((address, newer)) = image.check_generation(generation) {
            return Err(ProgramError::MissingInstruction {
                name: image.name.clone(),
                place: image.place(address),
                newer,
            });
        }
        Ok(Self::of_image(Arc::new(image.clone()), generation))
    }

    /// The empty program, which a core has before one is loaded.
    #[must_use]
    pub fn empty() -> Self {
        Self::of_image(Arc::default(), Generation::default())
    }

    fn of_image(image: Arc<Image>, generation: Generation) -> Self {
        let target = Target {
            generation,
            contexts: image.contexts,
        };
        let words = decoded(&image, target);
        Self {
            image,
            target,
            words,
        }
    }

    /// The image that the program was made from.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The context mode that the words are decoded for.
    #[must_use]
    pub fn mode(&self) -> ContextMode {
        self.target.contexts
    }

    /// The decoded words, indexed by address.
    pub fn words(&self) -> &[DecodedWord] {
        &self.words
    }

    /// The address after the last instruction.
    #[must_use]
    pub fn end(&self) -> u16 {
        self.words.len() as u16
    }

    /// Decodes the words again if they were decoded for another context mode: the mode decides
    /// which transfer register a command names. A core calls this when `CTX_ENABLES` changes its
    /// mode, which may differ from the one that the image was assembled for.
    pub fn set_mode(&mut self, mode: ContextMode) {
        if mode != self.target.contexts {
            self.target.contexts = mode;
            self.words = decoded(&self.image, self.target);
        }
    }

    /// Whether an address lies in the defer slots of an earlier instruction.
    #[must_use]
    pub fn is_defer_slot(&self, address: usize) -> bool {
        (1..=3).any(|back| {
            let before = address.checked_sub(back).and_then(|at| self.words.get(at));
            matches!(before, Some(Ok(it)) if usize::from(it.defer()) >= back)
        })
    }

    /// The accesses that this program can make to transfer registers of any microengine.
    #[must_use]
    pub fn exposes(&self) -> RemoteAccess {
        let instructions = self.words.iter().flatten();
        instructions.fold(RemoteAccess::default(), |all, it| {
            all | RemoteAccess::by(it)
        })
    }
}

fn decoded(image: &Image, target: Target) -> Arc<[DecodedWord]> {
    let words = image.words.iter();
    words.map(|&word| decode_lenient_in(word, target)).collect()
}

#[cfg(test)]
mod tests {
    use npsim_isa::{Generation, encode};

    use super::*;

    #[test]
    fn programs_with_a_newer_instruction_are_refused_by_name() {
        let words = vec![encode(&Instruction::Nop).unwrap(), 0xff_ffff_ffff];
        let image = Image::from_words("p", words);
        let chip = |generation: &str| {
            let text = format!(
                "extends = \"ixp2400\"\nname = \"mine\"\ntitle = \"t\"\ngeneration = \"{generation}\""
            );
            Profile::from_toml(&text)
        };
        let program = Program::new(&image, &chip("mev2").unwrap()).unwrap();
        assert_eq!(program.words()[0], Ok(Instruction::Nop));
        let older = chip("MEv1").unwrap();
        assert_eq!(older.generation(), Generation::MEv1);
        assert_eq!(
            Program::new(&image, &older).unwrap_err().to_string(),
            "program `p` cannot run on this chip: `nop` is an instruction of MEv2, which MEv1 does not have (p+0)"
        );
        let unknown = chip("MEv9").unwrap_err().to_string();
        assert!(unknown.contains("MEv1, MEv2"), "{unknown}");
    }
}
