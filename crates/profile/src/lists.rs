//! The parameters that every profile must have, one file for each part of the chip.
//!
//! A line of a list is a number or a choice by name,
//!
//! ```text
//! /// What it means.
//! name: type, "unit of measure", least..=greatest => accessor;
//! /// What it decides.
//! name: crate::Policy => accessor;
//! ```
//!
//! and ends in `of board` if it belongs to the board rather than the chip. The range has to fit the
//! type; a policy is an enum made by [`named!`](crate::named), next to the list. From each line,
//! [`crate::schema`] generates the check on load and the field that is read, and
//! `profile/accessors.rs` the accessor.

pub(crate) mod cap;
pub(crate) mod clock;
pub(crate) mod command;
pub(crate) mod dram;
pub(crate) mod feedback;
pub(crate) mod gpp;
pub(crate) mod hash;
pub(crate) mod microengine;
pub(crate) mod msf;
pub(crate) mod scratch;
pub(crate) mod sram;
pub(crate) mod xscale;

/// The lists of all parts, in the order in which profiles have them.
macro_rules! lists {
    ($collect:ident) => {
        $collect! {
        clock microengine command scratch sram dram hash msf cap gpp xscale feedback
            }
    };
}
pub(crate) use lists;
