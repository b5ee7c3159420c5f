//! The table generator: TOML text in, Rust source out.
//!
//! It is a crate of its own, apart from the build script that calls it: a script is compiled with
//! the optimisation of its package, which would cost more than the one run here takes.

mod check;
mod emit;
mod emit_instructions;
mod instructions;
mod sources;
mod tables;
mod words;

pub use sources::Sources;

/// Generates the source files that `npsim-isa` includes.
///
/// # Errors
/// Everything that is wrong with the tables.
pub fn generate(sources: &Sources) -> Result<Vec<(&'static str, String)>, Vec<String>> {
    let tables = sources::parse(sources)?;
    let errors = check::check(&tables);
    if errors.is_empty() {
        Ok(emit::emit(&tables))
    } else {
        Err(errors)
    }
}
