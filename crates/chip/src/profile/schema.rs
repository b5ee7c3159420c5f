//! The parameters that every profile must have: name, unit of measure, range,
//! type and meaning.
//!
//! Each part of the chip lists its own, in a file `profile.rs` beside its code.
//! This one collects the lists, in the order in which profiles have them, and
//! makes of each line the check on load and the field that the hot path reads;
//! [`super::accessors`] makes the accessor. A line is
//!
//! ```text
//! /// What it means.
//! name: type, "unit of measure", least..=greatest => accessor;
//! ```
//!
//! and ends in `of board` where the number is the board's and not the chip's. The
//! range has to fit the type. The lists are macros, and nothing else in their
//! files, so that a profile can be read by what the parts themselves stand on.

use super::parameter::{Parameter, Schema};

impl Schema {
    /// What a parameter must look like; `None` for one that no profile has.
    #[must_use]
    pub fn of(parameter: &Parameter) -> Option<&'static Self> {
        SCHEMA
            .iter()
            .find(|s| (s.group, s.name) == (parameter.group, parameter.name))
    }
}

/// Makes a module of one list.
macro_rules! group {
    ($group:ident {
        $($(#[doc = $doc:literal])+
        $name:ident: $kind:ty, $unit:literal, $least:literal..=$most:literal => $accessor:ident $(of $place:ident)?;)+
    }) => {
        mod $group {
            use super::Schema;

            pub(super) const SCHEMA: &[Schema] = &[$(Schema {
                group: stringify!($group),
                name: stringify!($name),
                unit: $unit,
                least: $least,
                most: $most,
                meaning: concat!($($doc,)+),
                board: { let places: &[&str] = &[$(stringify!($place))?]; !places.is_empty() },
            },)+];

            /// The values alone.
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct Values { $(pub(in crate::profile) $accessor: $kind,)+ }

            impl Values {
                /// Takes the values in the order of the list; their ranges fit the
                /// types.
                pub(super) fn take(values: &mut impl Iterator<Item = u64>) -> Self {
                    let mut next = || values.next().unwrap_or_default();
                    Self { $($accessor: next() as $kind,)+ }
                }
            }
        }
    };
}

/// Collects the lists of all parts.
macro_rules! groups {
    ($($group:ident: $($list:ident)::+;)+) => {
        $($($list)::+!(group);)+

        const GROUPS: &[&[Schema]] = &[$($group::SCHEMA),+];

        /// All values as plain fields.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct Values { $(pub(super) $group: $group::Values,)+ }

        impl Values {
            /// Takes the values from parameters in the order of [`SCHEMA`].
            pub(super) fn new(parameters: &[Parameter]) -> Self {
                let mut values = parameters.iter().map(|p| p.value);
                Self { $($group: $group::Values::take(&mut values),)+ }
            }
        }
    };
}

/// The lists of all parts.
macro_rules! lists {
    ($collect:ident) => {
        $collect! {
        clock: crate::kernel::profile::clock;
        microengine: crate::profile::microengine::parameters;
        command: crate::kernel::profile::command;
        scratch: crate::units::scratch::profile::parameters;
        sram: crate::units::sram::profile::parameters;
        dram: crate::units::dram::profile::parameters;
        hash: crate::units::hash::profile::parameters;
        msf: crate::units::msf::profile::parameters;
        cap: crate::units::cap::profile::parameters;
        gpp: crate::gpp::profile::parameters;
        feedback: crate::profile::feedback::parameters;
            }
    };
}
pub(super) use lists;

lists!(groups);

/// All parameters, in the order in which profiles list them.
pub(super) static SCHEMA: [Schema; count()] = {
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
