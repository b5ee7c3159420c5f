//! Programs of the crate's own tests, which are one text without a file.

use crate::{Assembly, Includes, Options, assemble};

/// The text, under whatever name it is asked for.
pub struct One<'a>(pub &'a str);

impl Includes for One<'_> {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.to_owned()))
    }
}

/// Assembles a text.
pub fn run(text: &str) -> Assembly {
    assemble("t.uc", &One(text), &Options::default())
}
