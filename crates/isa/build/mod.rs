//! The table generator: TOML text in, Rust source out.
//!
//! It is a library of its own so that the build script and the tests that feed
//! it bad tables share it.

mod check;
mod emit;
mod emit_instructions;
mod instructions;
mod tables;

pub use tables::Sources;

/// Generates the source files that the crate includes, or says everything that
/// is wrong with the tables.
pub fn generate(sources: &Sources) -> Result<Vec<(&'static str, String)>, Vec<String>> {
    let tables = tables::parse(sources)?;
    let errors = check::check(&tables);
    if errors.is_empty() {
        Ok(emit::emit(&tables))
    } else {
        Err(errors)
    }
}
