//! Names that types carry so that a [state vector](super::vector) knows what their numbers are.

/// Structures that only count: what is in them never decides what happens.
pub(super) const COUNTERS: [&str; 10] = [
    "BackPressure",
    "BusUse",
    "ContextTimes",
    "DramCounters",
    "LockCounts",
    "MeStats",
    "PortCounts",
    "TaskCounts",
    "TransmitErrors",
    "UnitCounters",
];

/// Defines `serialize` and `deserialize` for `#[serde(with)]`, by way of a newtype of this name.
macro_rules! newtype {
    ($name:expr) => {
        /// Writes a value as what this module's name says.
        ///
        /// # Errors
        /// Those of the serializer.
        pub fn serialize<T: serde::Serialize, S: serde::Serializer>(
            value: &T,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            to.serialize_newtype_struct($name, value)
        }

        /// Reads a value, which stands alone: the newtype's name is not in what is read.
        ///
        /// # Errors
        /// Those of the deserializer.
        pub fn deserialize<'de, T: serde::Deserialize<'de>, D: serde::Deserializer<'de>>(
            from: D,
        ) -> Result<T, D::Error> {
            T::deserialize(from)
        }
    };
}

/// A single count.
pub mod count {
    pub(in super::super) const NAME: &str = "Count";
    newtype!(NAME);
}

/// Longwords of 64 bits that are neither times nor counts: sets, sizes, rates.
pub mod bits {
    pub(in super::super) const NAME: &str = "Bits";
    newtype!(NAME);
}

/// Newtypes around what may hold a timestamp.
pub mod stamp {
    /// A field of the datapath, which remembers the operation before.
    pub mod datapath {
        pub(in super::super::super) const NAME: &str = "StampDatapath";
        newtype!(NAME);
    }

    /// A future count.
    pub mod count {
        pub(in super::super::super) const NAME: &str = "StampCount";
        newtype!(NAME);
    }

    /// The part of the register file that is written: of its registers, those in which the
    /// program keeps nothing but times for its timers.
    pub mod registers {
        pub(in super::super::super) const NAME: &str = "StampRegisters";
        newtype!(NAME);
    }
}
