//! Deserializes TOML with errors that are data: a [`KeyError`] has the path to the key, the place
//! in the text, and the mismatch.
//!
//! The parser of the `toml` crate produces a tree of values with their spans; what it rejects is a
//! syntax error. The values are deserialized here. A table is never accepted as a list: a section
//! given as `[[section]]` is rejected, whereas serde would take the entries for the fields in
//! order.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeArray, DeFloat, DeInteger, DeString, DeTable, DeValue};

use crate::source_map::KeyStep;
use crate::toml_errors::KeyError;

/// Reads a whole file.
///
/// # Errors
/// Returns the first error if the text is not TOML, or has invalid keys or values.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, KeyError> {
    from_table(parse(text)?)
}

/// Parses a text to keys and values.
pub(crate) fn parse(text: &str) -> Result<DeTable<'_>, KeyError> {
    let table = DeTable::parse(text).map_err(|error| KeyError::syntax(&error, text))?;
    Ok(table.into_inner())
}

/// Deserializes a file from its keys and values.
pub(crate) fn from_table<'de, T: Deserialize<'de>>(table: DeTable<'de>) -> Result<T, KeyError> {
    T::deserialize(ValueReader {
        value: Value::Table(Pairs::of(table)),
        span: None,
    })
}

/// Deserializes one value of a file.
pub(crate) fn from_value<'de, T>(value: Spanned<DeValue<'de>>) -> Result<T, KeyError>
where
    T: Deserialize<'de>,
{
    T::deserialize(ValueReader::from(value))
}

/// A value to be deserialized.
struct ValueReader<'de> {
    value: Value<'de>,
    /// Its byte range; `None` for the file as a whole, whose errors have no place of their own.
    span: Option<Range<usize>>,
}

impl<'de> From<Spanned<DeValue<'de>>> for ValueReader<'de> {
    fn from(value: Spanned<DeValue<'de>>) -> Self {
        Self {
            span: Some(value.span()),
            value: value.into_inner().into(),
        }
    }
}

/// A value in the form that visitors accept. The code that handles a value is instantiated for
/// every visitor, so as much as possible is done before.
enum Value<'de> {
    Text(DeString<'de>),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A number that no type can hold, as displayed.
    Unreadable(String),
    Bool(bool),
    List(Entries<'de>),
    Table(Pairs<'de>),
}

impl<'de> From<DeValue<'de>> for Value<'de> {
    fn from(value: DeValue<'de>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text),
            DeValue::Integer(number) => integer(&number),
            DeValue::Float(number) => float(&number),
            DeValue::Boolean(value) => Self::Bool(value),
            // No file has dates; each type reports that it does not expect one.
            DeValue::Datetime(time) => Self::Table(Pairs::of_date(time.to_string())),
            DeValue::Array(values) => Self::List(Entries::of(values)),
            DeValue::Table(table) => Self::Table(Pairs::of(table)),
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Value<'static> {
    let (digits, radix) = (number.as_str(), number.radix());
    if let Ok(number) = i64::from_str_radix(digits, radix) {
        return Value::Signed(number);
    }
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        return Value::Unsigned(number);
    }
    Value::Unreadable(
        i128::from_str_radix(digits, radix)
            .map_or_else(|_| digits.to_owned(), |number| number.to_string()),
    )
}

fn float(number: &DeFloat<'_>) -> Value<'static> {
    let digits = number.as_str();
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() || !digits.contains(|c: char| c.is_ascii_digit()) => {
            Value::Float(number)
        }
        _ => Value::Unreadable(digits.to_owned()),
    }
}

impl Value<'_> {
    /// Returns the error for a value of the wrong kind.
    fn type_error(&self, expected: &dyn Expected) -> KeyError {
        let found = match self {
            Self::Text(text) => Unexpected::Str(text),
            Self::Signed(number) => Unexpected::Signed(*number),
            Self::Unsigned(number) => Unexpected::Unsigned(*number),
            Self::Float(number) => Unexpected::Float(*number),
            Self::Unreadable(shown) => Unexpected::Other(shown),
            Self::Bool(value) => Unexpected::Bool(*value),
            Self::List(_) => Unexpected::Seq,
            Self::Table(_) => Unexpected::Map,
        };
        de::Error::invalid_type(found, expected)
    }
}

/// Deserializer methods for types that accept a single kind of value.
macro_rules! deserialize {
    ($kind:ident: $($method:ident($($name:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, KeyError> {
            self.$kind(visitor)
        }
    )*};
}

impl<'de> ValueReader<'de> {
    fn bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::Bool(value) => visitor.visit_bool(value),
            other => Err(other.type_error(&visitor)),
        };
        read.map_err(|error| error.at(self.span))
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::Signed(number) => visitor.visit_i64(number),
            Value::Unsigned(number) => visitor.visit_u64(number),
            Value::Float(number) => visitor.visit_f64(number),
            other => Err(other.type_error(&visitor)),
        };
        read.map_err(|error| error.at(self.span))
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::Text(text) => visit_text(text, visitor),
            other => Err(other.type_error(&visitor)),
        };
        read.map_err(|error| error.at(self.span))
    }

    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::List(entries) => visitor.visit_seq(entries),
            other => Err(other.type_error(&visitor)),
        };
        read.map_err(|error| error.at(self.span))
    }

    fn table<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::Table(pairs) => visitor.visit_map(pairs),
            other => Err(other.type_error(&visitor)),
        };
        read.map_err(|error| error.at(self.span))
    }
}

impl<'de> Deserializer<'de> for ValueReader<'de> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        match self.value {
            Value::Text(_) => self.text(visitor),
            Value::Signed(_) | Value::Unsigned(_) | Value::Float(_) | Value::Unreadable(_) => {
                self.number(visitor)
            }
            Value::Bool(_) => self.bool(visitor),
            Value::List(_) => self.list(visitor),
            Value::Table(_) => self.table(visitor),
        }
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
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        if !is_spanned(name) {
            return self.table(visitor);
        }
        let span = self.span.clone();
        let spanned = Self {
            value: Value::Table(Pairs::of_spanned(self, fields)),
            span,
        };
        spanned.table(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        let read = match self.value {
            Value::Text(word) => visitor.visit_enum(word.into_deserializer()),
            Value::Table(pairs) => {
                MapAccessDeserializer::new(pairs).deserialize_enum(name, variants, visitor)
            }
            other => Err(other.type_error(&"a word in quotes")),
        };
        read.map_err(|error: KeyError| error.at(self.span))
    }

    deserialize! { bool: deserialize_bool() }
    deserialize! { number:
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
    }
    deserialize! { text: deserialize_char() deserialize_str() deserialize_string() deserialize_identifier() }
    deserialize! { list:
        deserialize_seq()
        deserialize_tuple(_length: usize)
        deserialize_tuple_struct(_name: &'static str, _length: usize)
    }
    deserialize! { table: deserialize_map() }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct ignored_any }
}

fn visit_text<'de, V: Visitor<'de>>(text: DeString<'de>, visitor: V) -> Result<V::Value, KeyError> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

/// The entries of a list.
struct Entries<'de> {
    values: iter::Enumerate<std::vec::IntoIter<Spanned<DeValue<'de>>>>,
}

impl<'de> Entries<'de> {
    fn of(values: DeArray<'de>) -> Self {
        let values: Vec<_> = values.into_iter().collect();
        Self {
            values: values.into_iter().enumerate(),
        }
    }
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

/// The keys of a table with their values. A visitor alternately takes a key, of which a copy stays
/// here, and its value.
struct Pairs<'de> {
    pairs: std::vec::IntoIter<(PairKey<'de>, ValueReader<'de>)>,
}

/// A key of a table.
#[derive(Clone)]
struct PairKey<'de> {
    name: DeString<'de>,
    /// Its byte range; `None` for a key that is not in the file.
    span: Option<Range<usize>>,
}

impl<'de> Pairs<'de> {
    fn of(table: DeTable<'de>) -> Self {
        Self::from_pairs(table.into_iter().map(|(key, value)| {
            let span = Some(key.span());
            let name = key.into_inner();
            (PairKey { name, span }, ValueReader::from(value))
        }))
    }

    fn of_date(date: String) -> Self {
        let value = Value::Text(date.into());
        Self::from_pairs([(PairKey::internal("date"), ValueReader { value, span: None })])
    }

    /// Represents [`Spanned`] for serde: a struct of start, end and value, with `fields` as their
    /// names.
    fn of_spanned(value: ValueReader<'de>, fields: &'static [&'static str]) -> Self {
        let span = value.span.clone().unwrap_or_default();
        let bound = |at: usize| ValueReader {
            value: Value::Unsigned(at as u64),
            span: None,
        };
        let values = [bound(span.start), bound(span.end), value];
        Self::from_pairs(
            fields
                .iter()
                .map(|name| PairKey::internal(name))
                .zip(values),
        )
    }

    fn from_pairs(pairs: impl IntoIterator<Item = (PairKey<'de>, ValueReader<'de>)>) -> Self {
        let pairs: Vec<_> = pairs.into_iter().collect();
        Self {
            pairs: pairs.into_iter(),
        }
    }
}

impl PairKey<'_> {
    fn internal(name: &'static str) -> Self {
        Self {
            name: name.into(),
            span: None,
        }
    }

    /// Adds the place of this key or its value to an error.
    fn locate(self, error: KeyError, span: Option<Range<usize>>) -> KeyError {
        match self.span {
            Some(_) => error.at(span).below(KeyStep::Key(self.name.into_owned())),
            None => error,
        }
    }
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = KeyError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, KeyError> {
        let Some((key, _)) = self.pairs.as_slice().first() else {
            return Ok(None);
        };
        let read = seed.deserialize(KeyReader(key.clone()));
        read.map(Some).map_err(|error| {
            let key = key.clone();
            let span = key.span.clone();
            key.locate(error, span)
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, KeyError> {
        let Some((key, value)) = self.pairs.next() else {
            return Err(de::Error::custom("there is no key left"));
        };
        let span = value.span.clone();
        let read = seed.deserialize(value);
        read.map_err(|error| key.locate(error, span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

/// A key to be deserialized.
struct KeyReader<'de>(PairKey<'de>);

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = KeyError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, KeyError> {
        visit_text(self.0.name, visitor)
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
            return visitor.visit_map(SpannedDeserializer::new(
                self.0.name,
                self.0.span.unwrap_or_default(),
            ));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, KeyError> {
        visitor.visit_enum(self.0.name.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
