//! Checks of constants against the fields that hold them.

pub use super::command::cap_data;
pub use super::datapath::{byte_value, immed_form, word_value};
pub use super::values::{initial_value, small_constant};
