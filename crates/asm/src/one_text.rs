//! Helpers for the crate's own tests, whose programs are single texts without a
//! file.

use crate::{Assembly, Includes, Options, assemble};

/// A text that is loaded under any name.
pub struct SingleText<'a>(pub &'a str);

impl Includes for SingleText<'_> {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.to_owned()))
    }
}

/// Assembles a text.
pub fn run(text: &str) -> Assembly {
    assemble("t.uc", &SingleText(text), &Options::default())
}
