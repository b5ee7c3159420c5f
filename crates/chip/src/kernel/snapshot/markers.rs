//! Names carried by types, from which a [state vector](super::vector) derives the meaning of their
//! numbers.

/// Structures that only count: their contents never affect behaviour.
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

/// Defines `serialize` and `deserialize` for `#[serde(with)]`, by means of a newtype of this name.
macro_rules! newtype {
    ($name:expr) => {
        /// Serializes a value as the kind of number that this module is named after.
        ///
        /// # Errors
        /// Returns the errors of the serializer.
        pub fn serialize<T: serde::Serialize, S: serde::Serializer>(
            value: &T,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            to.serialize_newtype_struct($name, value)
        }

        /// Deserializes a value without a wrapper: the newtype's name is not part of the data.
        ///
        /// # Errors
        /// Returns the errors of the deserializer.
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

/// 64-bit words that are neither times nor counts: sets, sizes, rates.
pub mod bits {
    pub(in super::super) const NAME: &str = "Bits";
    newtype!(NAME);
}

/// Newtypes around values that may hold a timestamp.
pub mod stamp {
    /// A field of the datapath, which keeps the previous operation.
    pub mod datapath {
        pub(in super::super::super) const NAME: &str = "StampDatapath";
        newtype!(NAME);
    }

    /// A future count.
    pub mod count {
        pub(in super::super::super) const NAME: &str = "StampCount";
        newtype!(NAME);
    }

    /// The written part of the register file, some of whose registers the program may use only for
    /// times of its timers.
    pub mod registers {
        pub(in super::super::super) const NAME: &str = "StampRegisters";
        newtype!(NAME);
    }
}
