//! Import variables: constants that are known only when the program is linked. Each use is an
//! `immed` whose constant is filled in at that point.

use std::fmt;

use npsim_isa::{ImmedShift, Instruction, decode_in, encode_in, immed_fields};

use crate::image::Image;

/// Why a value cannot be filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// Address of the word.
    pub address: u16,
    /// The import variable.
    pub name: String,
    /// The part of the value that does not fit.
    pub value: u32,
    /// Why the value cannot be filled in.
    pub reason: String,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "word {}: {:#x} of import `{}` {}",
            self.address, self.value, self.name, self.reason
        )
    }
}

impl std::error::Error for LinkError {}

impl Image {
    /// Fills in the values of import variables. Names that the program does not use are ignored;
    /// the last of several values for a name counts.
    ///
    /// # Errors
    /// Returns an error for the first word whose constant cannot hold the value; the words before
    /// it are already changed.
    pub fn link(&mut self, values: &[(String, u32)]) -> Result<(), LinkError> {
        let target = self.target();
        for i in 0..self.imports.len() {
            let fixup = self.imports[i].clone();
            let given = values.iter().rev().find(|(name, _)| *name == fixup.name);
            let Some(&(_, value)) = given else { continue };
            let fail = |reason: String| LinkError {
                address: fixup.address,
                name: fixup.name.clone(),
                value: fixup.part.of(value),
                reason,
            };
            let word = self
                .words
                .get_mut(fixup.address as usize)
                .ok_or_else(|| fail("refers to a word that does not exist".to_owned()))?;
            let mut instruction =
                decode_in(*word, target).map_err(|error| fail(error.to_string()))?;
            set(&mut instruction, fixup.part.of(value), fixup.shifted).map_err(&fail)?;
            *word = encode_in(&instruction, target).map_err(|error| fail(error.to_string()))?;
            self.imports[i].value = Some(value);
        }
        Ok(())
    }

    /// Returns the names of import variables without a value, sorted and without duplicates.
    #[must_use]
    pub fn unresolved_imports(&self) -> Vec<&str> {
        let open = self.imports.iter().filter(|fixup| fixup.value.is_none());
        let mut names: Vec<&str> = open.map(|fixup| fixup.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn set(instruction: &mut Instruction, wanted: u32, shifted: bool) -> Result<(), String> {
    match instruction {
        Instruction::Immed {
            value,
            shift,
            invert,
            ..
        } if !shifted => {
            let Some(fields) = immed_fields(wanted) else {
                return Err(
                    "does not fit one `immed`; load it in two halves, with `immed_w1`".to_owned(),
                );
            };
            (*value, *shift, *invert) = fields;
        }
        Instruction::Immed { value, .. } | Instruction::ImmedWord { value, .. } => {
            *value = u16::try_from(wanted).map_err(|_| "does not fit 16 bits".to_owned())?;
        }
        Instruction::ImmedByte { value, .. } => {
            *value = u8::try_from(wanted).map_err(|_| "does not fit 8 bits".to_owned())?;
        }
        // For instance a `nop`: an `immed` of 0 without a destination is the same word.
        other => return Err(format!("cannot go into `{other}`")),
    }
    Ok(())
}

/// Whether the source wrote a shift for an `immed`.
#[must_use]
pub const fn is_shifted(shift: ImmedShift) -> bool {
    !matches!(shift, ImmedShift::None)
}
