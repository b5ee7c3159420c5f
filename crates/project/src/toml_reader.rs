//! Reads TOML into the types of files, with errors that are data: [`KeyError`] has the way to
//! the key, the place in the text, and what does not fit.
//!
//! The parser of the `toml` crate makes a tree of values with their spans; what it refuses is
//! syntax. The values are deserialized here. A table is never a list: a section that is given
//! as `[[section]]` is refused, where serde would take the entries for its fields in turn.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeString, DeTable, DeValue};

use crate::source_map::KeyStep;
use crate::toml_errors::KeyError;

/// Reads a whole file.
///
/// # Errors
/// It is not TOML, or has keys or values that it cannot have: the first mistake.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, KeyError> {
    from_table(parse(text)?)
}

/// The keys and values of a text.
pub(crate) fn parse(text: &str) -> Result<DeTable<'_>, KeyError> {
    let table = DeTable::parse(text).map_err(|error| KeyError::syntax(&error, text))?;
    Ok(table.into_inner())
}

/// What a file has, from its keys and values.
pub(crate) fn from_table<'de, T: Deserialize<'de>>(table: DeTable<'de>) -> Result<T, KeyError> {
    T::deserialize(ValueReader {
        value: DeValue::Table(table),
        span: None,
    })
}

/// What one value of a file is.
pub(crate) fn from_value<'de, T>(value: Spanned<DeValue<'de>>) -> Result<T, KeyError>
where
    T: Deserialize<'de>,
{
    T::deserialize(ValueReader::from(value))
}

/// A value that is to be read.
struct ValueReader<'de> {
    value: DeValue<'de>,
    /// Where it is typed; none for the file as a whole, whose mistakes have no place of
    /// their own.
    span: Option<Range<usize>>,
}

impl<'de> From<Spanned<DeValue<'de>>> for ValueReader<'de> {
    fn from(value: Spanned<DeValue<'de>>) -> Self {
        Self {
            span: Some(value.span()),
            value: value.into_inner(),
        }
    }
}

impl<'de> IntoDeserializer<'de, KeyError> for ValueReader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ValueReader<'de> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            DeValue::String(text) => visit_text(text, visitor),
            DeValue::Integer(number) => visit_integer(&number, visitor),
            DeValue::Float(number) => visit_float(&number, visitor),
            DeValue::Boolean(value) => visitor.visit_bool(value),
            // No file has dates: a type says that this is none of what it expects.
            DeValue::Datetime(time) => {
                let date = iter::once(("date", time.to_string()));
                visitor.visit_map(MapDeserializer::new(date))
            }
            DeValue::Array(values) => {
                let values: Vec<_> = values.into_iter().collect();
                visitor.visit_seq(Entries {
                    values: values.into_iter().enumerate(),
                })
            }
            DeValue::Table(table) => visitor.visit_map(Pairs::of(table)),
        };
        read.map_err(|error| error.at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        let span = self.span.clone();
        if is_spanned(name) {
            let place = span.clone().unwrap_or_default();
            let value = visitor.visit_map(SpannedDeserializer::new(self, place));
            return value.map_err(|error| error.at(span));
        }
        if matches!(self.value, DeValue::Array(_)) {
            let error: KeyError = de::Error::invalid_type(Unexpected::Seq, &visitor);
            return Err(error.at(span));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        let read = match self.value {
            DeValue::String(word) => visitor.visit_enum(word.into_deserializer()),
            DeValue::Table(table) => MapAccessDeserializer::new(Pairs::of(table))
                .deserialize_enum(name, variants, visitor),
            value => Err(de::Error::invalid_type(
                unexpected(&value),
                &"a word in quotes",
            )),
        };
        read.map_err(|error: KeyError| error.at(self.span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn visit_text<'de, V: Visitor<'de>>(text: DeString<'de>, visitor: V) -> Result<V::Value, KeyError> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

fn visit_integer<'de, V: Visitor<'de>>(
    number: &DeInteger<'_>,
    visitor: V,
) -> Result<V::Value, KeyError> {
    let (digits, radix) = (number.as_str(), number.radix());
    if let Ok(number) = i64::from_str_radix(digits, radix) {
        return visitor.visit_i64(number);
    }
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        return visitor.visit_u64(number);
    }
    let shown = i128::from_str_radix(digits, radix)
        .map_or_else(|_| digits.to_owned(), |number| number.to_string());
    Err(de::Error::invalid_value(
        Unexpected::Other(&shown),
        &visitor,
    ))
}

fn visit_float<'de, V: Visitor<'de>>(
    number: &DeFloat<'_>,
    visitor: V,
) -> Result<V::Value, KeyError> {
    let digits = number.as_str();
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() || !digits.contains(|c: char| c.is_ascii_digit()) => {
            visitor.visit_f64(number)
        }
        _ => Err(de::Error::invalid_value(
            Unexpected::Other(digits),
            &visitor,
        )),
    }
}

/// What a value is, for an error.
fn unexpected<'a>(value: &'a DeValue<'_>) -> Unexpected<'a> {
    match value {
        DeValue::String(text) => Unexpected::Str(text),
        DeValue::Integer(number) => Unexpected::Other(number.as_str()),
        DeValue::Float(number) => Unexpected::Other(number.as_str()),
        DeValue::Boolean(value) => Unexpected::Bool(*value),
        DeValue::Datetime(_) => Unexpected::Other("a date"),
        DeValue::Array(_) => Unexpected::Seq,
        DeValue::Table(_) => Unexpected::Map,
    }
}

/// The entries of a list.
struct Entries<'de> {
    values: iter::Enumerate<std::vec::IntoIter<Spanned<DeValue<'de>>>>,
}

impl<'de> SeqAccess<'de> for Entries<'de> {
    type Error = KeyError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, KeyError> {
        let Some((place, value)) = self.values.next() else {
            return Ok(None);
        };
        let span = value.span();
        let read = seed.deserialize(ValueReader::from(value));
        read.map(Some)
            .map_err(|error| error.at(Some(span)).below(KeyStep::Place(place)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

/// The keys of a table with their values.
struct Pairs<'de> {
    pairs: std::vec::IntoIter<(Spanned<DeString<'de>>, Spanned<DeValue<'de>>)>,
    /// The key that was read last, and its value.
    open: Option<(String, Spanned<DeValue<'de>>)>,
}

impl<'de> Pairs<'de> {
    fn of(table: DeTable<'de>) -> Self {
        let pairs: Vec<_> = table.into_iter().collect();
        Self {
            pairs: pairs.into_iter(),
            open: None,
        }
    }
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = KeyError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, KeyError> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        let (span, name) = (key.span(), key.get_ref().clone().into_owned());
        self.open = Some((name.clone(), value));
        let read = seed.deserialize(KeyReader {
            name: key.into_inner(),
            span: span.clone(),
        });
        read.map(Some)
            .map_err(|error| error.at(Some(span)).below(KeyStep::Key(name)))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, KeyError> {
        let Some((key, value)) = self.open.take() else {
            return Err(de::Error::custom("a value is read before its key"));
        };
        let span = value.span();
        let read = seed.deserialize(ValueReader::from(value));
        read.map_err(|error| error.at(Some(span)).below(KeyStep::Key(key)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

/// A key that is to be read.
struct KeyReader<'de> {
    name: DeString<'de>,
    span: Range<usize>,
}

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        visit_text(self.name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self.name, self.span));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        visitor.visit_enum(self.name.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
