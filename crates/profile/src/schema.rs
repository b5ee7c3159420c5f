//! The schema of each parameter in [`crate::lists`], and the values of a profile as plain fields,
//! which are faster to read than a list is to search.

use crate::lists::lists;
use crate::parameter::{Parameter, Schema};

impl Schema {
    /// The schema of a parameter; `None` for one that no profile has.
    #[must_use]
    pub fn of(parameter: &Parameter) -> Option<&'static Self> {
        SCHEMA
            .iter()
            .find(|s| (s.group, s.name) == (parameter.group, parameter.name))
    }
}

/// The values that a line allows.
macro_rules! domain {
    ($kind:ty, $unit:literal, $least:literal, $most:literal) => {
        $crate::Domain::Number {
            unit: $unit,
            least: $least,
            most: $most,
        }
    };
    ($kind:ty) => {
        $crate::Domain::Name(<$kind as $crate::Named>::NAMES)
    };
}

/// The field of a line, from its value, which has been checked to be in the domain.
macro_rules! field {
    ($value:expr, $kind:ty, $unit:literal) => {
        $value.number().unwrap_or_default() as $kind
    };
    ($value:expr, $kind:ty) => {{
        let name = $value.name().unwrap_or_default();
        <$kind as $crate::Named>::from_name(name).unwrap_or(<$kind as $crate::Named>::ALL[0])
    }};
}

/// Makes a module from one list.
macro_rules! group {
    ($group:ident {
        $($(#[doc = $doc:literal])+
        $name:ident: $kind:ty $(, $unit:literal, $least:literal..=$most:literal)? => $accessor:ident $(of $place:ident)?;)+
    }) => {
        mod $group {
            use crate::parameter::{Schema, ParameterValue};

            pub(super) const SCHEMA: &[Schema] = &[$(Schema {
                group: stringify!($group),
                name: stringify!($name),
                domain: domain!($kind $(, $unit, $least, $most)?),
                meaning: concat!($($doc,)+),
                board: { let places: &[&str] = &[$(stringify!($place))?]; !places.is_empty() },
            },)+];

            /// The values alone.
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct Values { $(pub(crate) $accessor: $kind,)+ }

            impl Values {
                /// Takes the values, in the order of the list.
                pub(super) fn take(values: &mut impl Iterator<Item = ParameterValue>) -> Self {
                    let mut next = || values.next().unwrap_or(ParameterValue::Number(0));
                    Self { $($accessor: field!(next(), $kind $(, $unit)?),)+ }
                }
            }
        }
    };
}

/// Collects the lists of all parts.
macro_rules! groups {
    ($($group:ident)+) => {
        $(crate::lists::$group::parameters!(group);)+

        const GROUPS: &[&[Schema]] = &[$($group::SCHEMA),+];

        /// All values as plain fields.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) struct Values { $(pub(crate) $group: $group::Values,)+ }

        impl Values {
            /// Takes the values from parameters, which are in the order of [`SCHEMA`].
            pub(crate) fn new(parameters: &[Parameter]) -> Self {
                let mut values = parameters.iter().map(|p| p.value);
                Self { $($group: $group::Values::take(&mut values),)+ }
            }
        }
    };
}

lists!(groups);

/// All parameters, in the order in which profiles list them.
pub(crate) static SCHEMA: [Schema; count()] = {
    let mut all = [GROUPS[0][0]; count()];
    let (mut group, mut at) = (0, 0);
    while group < GROUPS.len() {
        let mut line = 0;
        while line < GROUPS[group].len() {
            all[at] = GROUPS[group][line];
            line += 1;
            at += 1;
        }
        group += 1;
    }
    all
};

const fn count() -> usize {
    let (mut group, mut count) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].len();
        group += 1;
    }
    count
}
