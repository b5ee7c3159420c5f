//! Value parsers for options.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use clap::builder::{PathBufValueParser, TypedValueParser};
use npsim::atomic_file::is_standard_output;

/// Parses a value with its `FromStr`, whose error message becomes part of the usage error.
pub fn parser<T>() -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr + Clone + Send + Sync + 'static,
    T::Err: std::fmt::Display,
{
    clap::builder::NonEmptyStringValueParser::new()
        .try_map(|text| text.parse::<T>().map_err(|error| error.to_string()))
}

/// A folder to write, which cannot be standard output.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    no_standard_output("the output is a folder, which standard output cannot be")
}

/// A file that is replaced repeatedly, which cannot be standard output.
pub fn replaced_file() -> impl TypedValueParser<Value = PathBuf> {
    no_standard_output("the file is replaced repeatedly, which is not possible for standard output")
}

fn no_standard_output(why: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path| {
        if is_standard_output(&path) {
            return Err(why);
        }
        Ok(path)
    })
}

/// The number of threads given by an option, by default the number of cores of the host.
pub fn threads(asked: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    asked.map_or_else(cores, usize::from)
}
