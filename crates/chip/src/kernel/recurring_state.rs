//! The numbers of an observer's state, for recurring time.
//!
//! An observer visits its numbers in one order for any purpose: they are written to a vector, which
//! is compared like that of the chip, or set to values extrapolated from such vectors.

use crate::Cycle;
use crate::kernel::snapshot::{NumberClass, StateVector};

/// A visitor of the numbers of an observer's state.
#[derive(Debug)]
pub struct RecurringState<'a>(Pass<'a>);

#[derive(Debug)]
enum Pass<'a> {
    Write(&'a mut StateVector),
    Set(std::slice::Iter<'a, u64>),
}

impl<'a> RecurringState<'a> {
    /// Creates a visitor that writes the numbers to a vector.
    pub(crate) fn write(to: &'a mut StateVector) -> Self {
        to.clear();
        Self(Pass::Write(to))
    }

    /// Creates a visitor that sets the numbers to others.
    pub(crate) fn set(to: &'a [u64]) -> Self {
        Self(Pass::Set(to.iter()))
    }

    /// Visits a count, which may grow by any amount that is the same in each period.
    #[inline]
    pub fn count(&mut self, number: &mut u64) {
        self.number(number, NumberClass::Count);
    }

    /// Visits a time, which is constant or moves with the periods. A constant time that lies ahead
    /// ends the periods.
    #[inline]
    pub fn time(&mut self, number: &mut Cycle) {
        self.number(number, NumberClass::Time);
    }

    /// Visits a value, which is the same in each period.
    #[inline]
    pub fn value(&mut self, number: u64) {
        self.number(&mut { number }, NumberClass::Value);
    }

    #[inline]
    fn number(&mut self, number: &mut u64, class: NumberClass) {
        match &mut self.0 {
            Pass::Write(vector) => vector.put(*number, class),
            Pass::Set(numbers) => {
                if let Some(next) = numbers.next() {
                    *number = *next;
                }
            }
        }
    }
}
