//! Rebuilding a state from its vector.

use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};

use super::vector::SnapshotError;

/// Reads numbers in the order in which they were written.
#[derive(Debug)]
pub struct StateReader<'a> {
    numbers: std::slice::Iter<'a, u64>,
}

impl<'a> StateReader<'a> {
    pub(crate) fn new(numbers: &'a [u64]) -> Self {
        Self {
            numbers: numbers.iter(),
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// Returns an error if there are too few numbers, or they are not those of such a value.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, SnapshotError> {
        T::deserialize(self)
    }

    /// Whether all numbers have been read.
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.as_slice().is_empty()
    }

    fn next(&mut self) -> Result<u64, SnapshotError> {
        let number = self.numbers.next().copied();
        number.ok_or_else(|| SnapshotError("too few numbers".to_owned()))
    }

    fn len(&mut self) -> Result<usize, SnapshotError> {
        Ok(self.next()? as usize)
    }

    fn bytes(&mut self) -> Result<Vec<u8>, SnapshotError> {
        let len = self.len()?;
        (0..len).map(|_| Ok(self.next()? as u8)).collect()
    }
}

/// The remaining elements of a sequence, pairs of a map or fields of a structure.
struct Parts<'r, 'a> {
    reader: &'r mut StateReader<'a>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Parts<'_, '_> {
    type Error = SnapshotError;

    fn next_element_seed<T: de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SnapshotError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::MapAccess<'de> for Parts<'_, '_> {
    type Error = SnapshotError;

    fn next_key_seed<K: de::DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, SnapshotError> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    fn next_value_seed<V: de::DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, SnapshotError> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> de::EnumAccess<'de> for &mut StateReader<'_> {
    type Error = SnapshotError;
    type Variant = Self;

    fn variant_seed<V: de::DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), SnapshotError> {
        let index = self.next()? as u32;
        let variant =
            seed.deserialize(IntoDeserializer::<SnapshotError>::into_deserializer(index))?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut StateReader<'_> {
    type Error = SnapshotError;

    fn unit_variant(self) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, SnapshotError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        de::Deserializer::deserialize_tuple(self, len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        de::Deserializer::deserialize_tuple(self, fields.len(), visitor)
    }
}

/// Implements the methods of types that are one number each.
macro_rules! numbers {
    ($($deserialize:ident $visit:ident $type:ty;)+) => {
        $(fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
            visitor.$visit(self.next()? as $type)
        })+
    };
}

impl<'de> de::Deserializer<'de> for &mut StateReader<'_> {
    type Error = SnapshotError;

    numbers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SnapshotError> {
        Err(SnapshotError("numbers do not say what they are".to_owned()))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        visitor.visit_bool(self.next()? != 0)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        let low = u128::from(self.next()?);
        visitor.visit_u128(low | u128::from(self.next()?) << 64)
    }

    #[expect(clippy::disallowed_types, reason = "state of embedders\' tasks")]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        visitor.visit_f32(f32::from_bits(self.next()? as u32))
    }

    #[expect(clippy::disallowed_types, reason = "state of embedders\' tasks")]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        visitor.visit_f64(f64::from_bits(self.next()?))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        let char = char::from_u32(self.next()? as u32);
        visitor.visit_char(char.ok_or_else(|| SnapshotError("no character".to_owned()))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        let text = String::from_utf8(self.bytes()?);
        visitor.visit_string(text.map_err(|error| SnapshotError(error.to_string()))?)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        self.deserialize_byte_buf(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        visitor.visit_byte_buf(self.bytes()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        match self.next()? {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        let left = self.len()?;
        visitor.visit_seq(Parts { reader: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        visitor.visit_seq(Parts {
            reader: self,
            left: len,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SnapshotError> {
        let left = self.len()?;
        visitor.visit_map(Parts { reader: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SnapshotError> {
        visitor.visit_enum(self)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SnapshotError> {
        Err(SnapshotError("numbers have no names".to_owned()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, SnapshotError> {
        Err(SnapshotError("numbers do not say what they are".to_owned()))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
