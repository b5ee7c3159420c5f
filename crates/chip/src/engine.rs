//! The core of this crate as a kind that a chip can be made of.

use crate::core::CoreKind;
use crate::microengine::Microengine;

/// The core that runs ahead of the chip until it has to synchronise with it.
pub const ENGINE: CoreKind = CoreKind {
    name: "engine",
    make: |index, profile| Box::new(Microengine::new(index, profile)),
};

impl Default for CoreKind {
    fn default() -> Self {
        ENGINE
    }
}
