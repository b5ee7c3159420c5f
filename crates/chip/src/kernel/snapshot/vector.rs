//! A chip's state as a vector of numbers, each of a class that determines how it may differ from
//! one period to the next.
//!
//! The vector holds the same data as a saved state, through the same [`Serialize`] implementations,
//! so any state missing here would also be missing in a checkpoint. The class of a number follows
//! from its type and from names that the types carry (`markers.rs`):
//!
//! - An unsigned number of 64 bits is a [time](NumberClass::Time), except
//! - in the structures of `COUNTERS` and in the newtype of [`count`], where it is a
//!   [count](NumberClass::Count),
//! - in the newtype of [`bits`], where it is a value, and
//! - in the newtypes of [`stamp`], which hold data that microcode may have derived from the
//!   timestamp.
//! - Everything else is a [value](NumberClass::Value), so that an omission from this list can only
//!   keep a period from being found, and never produce a wrong one.

use std::fmt;

use serde::ser::{self, Serialize};

use super::markers::{COUNTERS, bits, count, stamp};

/// The allowed difference of a number between two states that are a period apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberClass {
    /// No difference.
    Value,
    /// None, or the period.
    Time,
    /// Any, if it is the same from each period to the next.
    Count,
    /// None, or the timestamp steps of a period, modulo 2^32 or 2^16.
    Stamp { bits: u8 },
}

/// The reason why a state has no vector, or a vector no state; a defect of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotError(pub(crate) String);

impl SnapshotError {
    /// Creates the error for a kind of core whose state has no vector.
    #[must_use]
    pub fn unsupported() -> Self {
        Self("this kind of core has no numbers".to_owned())
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SnapshotError {}

impl ser::Error for SnapshotError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl serde::de::Error for SnapshotError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The newtypes of [`stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StampKind {
    Registers,
    Datapath,
    Count,
}

impl StampKind {
    fn of(name: &str) -> Option<Self> {
        match name {
            stamp::registers::NAME => Some(Self::Registers),
            stamp::datapath::NAME => Some(Self::Datapath),
            stamp::count::NAME => Some(Self::Count),
            _ => None,
        }
    }
}

/// A state as numbers and their classes.
#[derive(Debug, Default)]
pub struct StateVector {
    pub(crate) row: Vec<u64>,
    pub(crate) classes: Vec<NumberClass>,
    /// Nesting depth of structures of counters at the writer's position.
    counting: u32,
    bits: bool,
    stamp: Option<StampKind>,
    #[cfg(test)]
    names: Vec<&'static str>,
    /// Index at which the register file began.
    registers: usize,
    /// Whether the core has timers, and a bitmap of the registers that hold nothing but times for
    /// them.
    timers: bool,
    timer_registers: Vec<u64>,
}

impl StateVector {
    /// Appends the numbers of a value.
    ///
    /// # Errors
    /// Returns an error if the value contains something for which the vector has no class: a float
    /// or a string.
    pub fn add(&mut self, value: &impl Serialize) -> Result<(), SnapshotError> {
        value.serialize(self)
    }

    /// Appends the numbers of a core. `timer_registers` is a bitmap of the registers, in the flat
    /// file, that hold nothing but times for timers, if the core has timers.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_core(
        &mut self,
        value: &impl Serialize,
        timer_registers: Option<&[u64]>,
    ) -> Result<(), SnapshotError> {
        self.timers = timer_registers.is_some();
        self.timer_registers.clear();
        self.timer_registers
            .extend_from_slice(timer_registers.unwrap_or_default());
        value.serialize(self)
    }

    /// Removes all numbers and keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.row.clear();
        self.classes.clear();
    }

    #[inline]
    pub(crate) fn put(&mut self, number: u64, class: NumberClass) {
        self.row.push(number);
        self.classes.push(class);
    }

    fn value(&mut self, number: u64) {
        self.put(number, NumberClass::Value);
    }

    #[inline]
    fn narrow(&mut self, number: u64, bits: u8) {
        let stamps = match self.stamp {
            None => false,
            Some(StampKind::Registers) => {
                let at = self.row.len() - self.registers;
                let word = self.timer_registers.get(at / 64).copied().unwrap_or(0);
                word >> (at % 64) & 1 == 1
            }
            Some(StampKind::Datapath) => self.timers,
            Some(StampKind::Count) => true,
        };
        self.put(
            number,
            if stamps {
                NumberClass::Stamp { bits }
            } else {
                NumberClass::Value
            },
        );
    }
}

impl ser::Serializer for &mut StateVector {
    type Ok = ();
    type Error = SnapshotError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Struct<Self>;
    type SerializeStructVariant = Self;

    #[inline]
    fn serialize_bool(self, v: bool) -> Result<(), SnapshotError> {
        self.value(v.into());
        Ok(())
    }

    #[inline]
    fn serialize_i8(self, v: i8) -> Result<(), SnapshotError> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i16(self, v: i16) -> Result<(), SnapshotError> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i32(self, v: i32) -> Result<(), SnapshotError> {
        self.serialize_i64(v.into())
    }

    #[inline]
    fn serialize_i64(self, v: i64) -> Result<(), SnapshotError> {
        self.value(v.cast_unsigned());
        Ok(())
    }

    #[inline]
    fn serialize_u8(self, v: u8) -> Result<(), SnapshotError> {
        self.value(v.into());
        Ok(())
    }

    #[inline]
    fn serialize_u16(self, v: u16) -> Result<(), SnapshotError> {
        self.narrow(v.into(), 16);
        Ok(())
    }

    #[inline]
    fn serialize_u32(self, v: u32) -> Result<(), SnapshotError> {
        self.narrow(v.into(), 32);
        Ok(())
    }

    #[inline]
    fn serialize_u64(self, v: u64) -> Result<(), SnapshotError> {
        let class = match self.counting {
            _ if self.bits => NumberClass::Value,
            0 => NumberClass::Time,
            _ => NumberClass::Count,
        };
        self.put(v, class);
        Ok(())
    }

    #[inline]
    fn serialize_u128(self, v: u128) -> Result<(), SnapshotError> {
        self.value(v as u64);
        self.value((v >> 64) as u64);
        Ok(())
    }

    #[expect(clippy::disallowed_types, reason = "state of embedders\' tasks")]
    fn serialize_f32(self, v: f32) -> Result<(), SnapshotError> {
        self.value(v.to_bits().into());
        Ok(())
    }

    #[expect(clippy::disallowed_types, reason = "state of embedders\' tasks")]
    fn serialize_f64(self, v: f64) -> Result<(), SnapshotError> {
        self.value(v.to_bits());
        Ok(())
    }

    fn serialize_char(self, v: char) -> Result<(), SnapshotError> {
        self.value(u32::from(v).into());
        Ok(())
    }

    fn serialize_str(self, v: &str) -> Result<(), SnapshotError> {
        self.serialize_bytes(v.as_bytes())
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<(), SnapshotError> {
        self.value(v.len() as u64);
        for byte in v {
            self.value(u64::from(*byte));
        }
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), SnapshotError> {
        self.value(0);
        Ok(())
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), SnapshotError> {
        self.value(1);
        v.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), SnapshotError> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), SnapshotError> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
    ) -> Result<(), SnapshotError> {
        self.value(index.into());
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        v: &T,
    ) -> Result<(), SnapshotError> {
        #[cfg(test)]
        self.names.push(name);
        match name {
            count::NAME => {
                self.counting += 1;
                let done = v.serialize(&mut *self);
                self.counting -= 1;
                done
            }
            bits::NAME => {
                self.bits = true;
                let done = v.serialize(&mut *self);
                self.bits = false;
                done
            }
            stamp::registers::NAME | stamp::datapath::NAME | stamp::count::NAME => {
                self.stamp = StampKind::of(name);
                self.registers = self.row.len();
                let done = v.serialize(&mut *self);
                self.stamp = None;
                done
            }
            _ => v.serialize(self),
        }
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        v: &T,
    ) -> Result<(), SnapshotError> {
        self.value(index.into());
        v.serialize(self)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self, SnapshotError> {
        let len = len.ok_or_else(|| SnapshotError("a sequence without a length".to_owned()))?;
        self.value(len as u64);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, SnapshotError> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, SnapshotError> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, SnapshotError> {
        self.value(index.into());
        Ok(self)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self, SnapshotError> {
        self.serialize_seq(len)
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, SnapshotError> {
        #[cfg(test)]
        self.names.push(name);
        let counts = COUNTERS.contains(&name);
        self.counting += u32::from(counts);
        Ok(Struct {
            numbers: self,
            counts,
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, SnapshotError> {
        self.value(index.into());
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The fields of a structure.
pub struct Struct<N> {
    numbers: N,
    counts: bool,
}

impl ser::SerializeStruct for Struct<&mut StateVector> {
    type Ok = ();
    type Error = SnapshotError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        v: &T,
    ) -> Result<(), SnapshotError> {
        v.serialize(&mut *self.numbers)
    }

    fn end(self) -> Result<(), SnapshotError> {
        self.numbers.counting -= u32::from(self.counts);
        Ok(())
    }
}

/// Types with parts in sequence, all handled alike.
macro_rules! parts {
    ($($trait:ident $($method:ident)+, named: $named:tt;)+) => {
        $(impl ser::$trait for &mut StateVector {
            type Ok = ();
            type Error = SnapshotError;
            $(parts!(@$named $method);)+

            fn end(self) -> Result<(), SnapshotError> {
                Ok(())
            }
        })+
    };
    (@false $method:ident) => {
        fn $method<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<(), SnapshotError> {
            v.serialize(&mut **self)
        }
    };
    (@true $method:ident) => {
        fn $method<T: Serialize + ?Sized>(&mut self, _: &'static str, v: &T) -> Result<(), SnapshotError> {
            v.serialize(&mut **self)
        }
    };
}

parts! {
    SerializeSeq serialize_element, named: false;
    SerializeTuple serialize_element, named: false;
    SerializeTupleStruct serialize_field, named: false;
    SerializeTupleVariant serialize_field, named: false;
    SerializeMap serialize_key serialize_value, named: false;
    SerializeStructVariant serialize_field, named: true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::MeStats;
    use crate::gpp::Gpp;
    use crate::gpp::boot::BootPlan;
    use crate::kernel::fabric::Fabric;
    use crate::units::Units;
    use crate::units::msf::MediaSetup;
    use npsim_profile::Profile;

    /// Collects the names of structures and newtypes encountered in a value.
    fn names(value: &impl Serialize) -> String {
        let mut out = StateVector::default();
        out.add(value).unwrap();
        out.names.join(" ")
    }

    /// Registers and clocks of a core, each marked as a core marks it.
    #[derive(serde::Serialize)]
    struct CoreState {
        stats: MeStats,
        #[serde(with = "bits")]
        written: u64,
        #[serde(with = "stamp::registers")]
        file: u32,
        #[serde(with = "stamp::datapath")]
        codes: u32,
        #[serde(with = "stamp::count")]
        future_count: u16,
    }

    #[test]
    fn number_class_names_occur_in_the_state() {
        let profile = Profile::load("ixp2400").unwrap();
        let gpp = Gpp::new(&profile, &BootPlan::default());
        let units = Units::new(&profile, &MediaSetup::default());
        let fabric = Fabric::new(profile, Units::inlets);
        let core = CoreState {
            stats: MeStats::default(),
            written: 0,
            file: 0,
            codes: 0,
            future_count: 0,
        };
        let lock = crate::kernel::lock::LockCounts::default();
        let task = crate::gpp::TaskCounts::default();
        let port = crate::units::msf::port::PortCounts::default();
        let seen = names(&(&fabric, &units, &gpp, &core, lock, task, port));
        for name in COUNTERS.iter().chain(&[count::NAME]) {
            assert!(seen.split(' ').any(|it| it == *name), "{name}");
        }
        for name in [
            bits::NAME,
            stamp::registers::NAME,
            stamp::datapath::NAME,
            stamp::count::NAME,
        ] {
            assert!(seen.split(' ').any(|it| it == name), "{name}");
        }
    }
}
