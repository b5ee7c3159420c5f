//! The numbers of an observer's state, for time that recurs.
//!
//! An observer names its numbers in one order, whatever is done with them: they are written to
//! a vector, which is compared as that of the chip is, or set to what follows from such vectors.

use crate::Cycle;
use crate::kernel::snapshot::{NumberClass, StateVector};

/// Goes through the numbers of an observer's state.
#[derive(Debug)]
pub struct RecurringState<'a>(Pass<'a>);

#[derive(Debug)]
enum Pass<'a> {
    Write(&'a mut StateVector),
    Set(std::slice::Iter<'a, u64>),
}

impl<'a> RecurringState<'a> {
    /// Writes the numbers to a vector.
    pub(crate) fn write(to: &'a mut StateVector) -> Self {
        to.clear();
        Self(Pass::Write(to))
    }

    /// Sets the numbers to others.
    pub(crate) fn set(to: &'a [u64]) -> Self {
        Self(Pass::Set(to.iter()))
    }

    /// A count: it may grow by anything, if by the same in each period.
    #[inline]
    pub fn count(&mut self, number: &mut u64) {
        self.number(number, NumberClass::Count);
    }

    /// A time: it stands, or moves on with the periods. One that stands and lies ahead is where
    /// the periods end.
    #[inline]
    pub fn time(&mut self, number: &mut Cycle) {
        self.number(number, NumberClass::Time);
    }

    /// A value, which is the same in each period.
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
