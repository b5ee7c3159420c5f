//! The cores of a chip.

use std::array;
use std::ops::{Deref, DerefMut};

use super::Core;
use super::absent::Absent;
use crate::kernel::event::MICROENGINES as MOST;

/// The cores of a chip in the order of their index. They stand in the chip itself, and behind
/// them those that it lacks, so that nothing is asked before one gets a turn.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    all: [Box<dyn Core>; MOST],
    count: usize,
}

impl Default for Cores {
    fn default() -> Self {
        Self {
            all: array::from_fn(|_| Box::new(Absent) as Box<dyn Core>),
            count: 0,
        }
    }
}

impl Cores {
    /// Adds one, of which a chip has no more than the largest.
    pub fn push(&mut self, core: Box<dyn Core>) {
        self.all[self.count] = core;
        self.count += 1;
    }

    /// One that the chip has; its index is masked.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is an address.
    pub fn at(&mut self, index: u8) -> &mut dyn Core {
        &mut *self.all[usize::from(index) % MOST]
    }
}

impl FromIterator<Box<dyn Core>> for Cores {
    fn from_iter<I: IntoIterator<Item = Box<dyn Core>>>(cores: I) -> Self {
        let mut all = Self::default();
        cores.into_iter().for_each(|core| all.push(core));
        all
    }
}

impl Deref for Cores {
    type Target = [Box<dyn Core>];

    fn deref(&self) -> &Self::Target {
        &self.all[..self.count]
    }
}

impl DerefMut for Cores {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.all[..self.count]
    }
}
