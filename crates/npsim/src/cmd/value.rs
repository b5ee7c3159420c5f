//! Values of options.

use clap::builder::TypedValueParser;

/// Reads a value with its `FromStr`, whose message then stands in the usage error.
pub fn parser<T>() -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr + Clone + Send + Sync + 'static,
    T::Err: std::fmt::Display,
{
    clap::builder::NonEmptyStringValueParser::new()
        .try_map(|text| text.parse::<T>().map_err(|error| error.to_string()))
}
