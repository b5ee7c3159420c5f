//! The rows of the banks: when an access may begin, and when its data can be on the pins.
//!
//! A bank has at most one row open. Under [`RowPolicy::Closed`] an access opens its row and closes
//! it afterwards. Under [`RowPolicy::Open`] the row stays open until an access to another one, or a
//! refresh:
//!
//! | open in the bank | from the beginning to the data | an access may begin |
//! | --- | --- | --- |
//! | no row | `row_to_column`, `column_to_data` | once the previous row is closed, and a `row_cycle` after it was opened |
//! | its row | `column_to_data` | with the last column command of the previous access |
//! | another row | `precharge` more than with no row open | after the last column command, or the last written data and `write_recovery`, but not before its row can open a `row_cycle` after the last |

use npsim_profile::{Profile, RowPolicy};
use serde::{Deserialize, Serialize};

use crate::Cycle;

/// Row number that stands for no row.
const NONE: u32 = u32::MAX;

/// The profile's row parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowTiming {
    policy: RowPolicy,
    column_to_data: Cycle,
    row_cycle: Cycle,
    precharge: Cycle,
    write_recovery: Cycle,
    /// From the beginning of an access to its data when no row is open.
    access: Cycle,
}

impl RowTiming {
    pub fn new(profile: &Profile) -> Self {
        Self {
            policy: profile.dram_rows(),
            column_to_data: profile.dram_column_to_data(),
            row_cycle: profile.dram_row_cycle(),
            precharge: profile.dram_precharge(),
            write_recovery: profile.dram_write_recovery(),
            access: profile.dram_row_to_column() + profile.dram_column_to_data(),
        }
    }

    /// Cycles from the beginning of an access to its data when no row is open.
    #[inline]
    pub fn access(&self) -> Cycle {
        self.access
    }

    /// Whether rows stay open.
    pub fn stay_open(&self) -> bool {
        match self.policy {
            RowPolicy::Open => true,
            RowPolicy::Closed => false,
        }
    }
}

/// The row of one bank.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpenRow {
    /// The number of the open row. Rows that close after each access never count as open.
    open: u32,
    /// The earliest cycle for an access that closes no row.
    free: Cycle,
    /// The earliest cycle at which the open row may be closed.
    closable: Cycle,
    /// When the last row was opened.
    opened: Cycle,
}

impl Default for OpenRow {
    fn default() -> Self {
        Self {
            open: NONE,
            free: 0,
            closable: 0,
            opened: 0,
        }
    }
}

impl OpenRow {
    /// The earliest cycle at which an access to any row may begin.
    #[inline]
    pub fn free(&self) -> Cycle {
        self.free
    }

    /// Whether an access to a row finds it open.
    #[inline]
    pub fn is_hit(&self, row: u32) -> bool {
        self.open == row
    }

    /// The earliest cycle at which an access to a row may begin.
    #[inline]
    pub fn earliest(&self, row: u32) -> Cycle {
        if self.open == NONE || self.open == row {
            self.free
        } else {
            self.closable
        }
    }

    /// Begins an access now. Returns when its data can be on the pins.
    #[inline]
    pub fn begin(&mut self, row: u32, now: Cycle, timing: &RowTiming) -> Cycle {
        if self.open == row {
            return now + timing.column_to_data;
        }
        let closed = if self.open == NONE {
            now
        } else {
            now + timing.precharge
        };
        self.opened = closed;
        if timing.stay_open() {
            self.open = row;
        }
        closed + timing.access()
    }

    /// Ends the access that has begun; its data is on the pins until `end`.
    #[inline]
    pub fn end(&mut self, write: bool, end: Cycle, timing: &RowTiming) {
        // The last column command comes `column_to_data` before the end of the data. A read is then
        // done with its row; a write is done after its last data and the recovery time.
        let last_column = end - timing.column_to_data;
        let done = if write {
            end + timing.write_recovery
        } else {
            last_column
        };
        let closable = done.max((self.opened + timing.row_cycle).saturating_sub(timing.precharge));
        if timing.stay_open() {
            self.closable = closable;
            self.free = last_column;
        } else {
            self.free = closable + timing.precharge;
        }
    }

    /// Closes the row if one is open, at `due` or as soon as possible after it. Returns when it is
    /// closed.
    pub fn close(&mut self, due: Cycle, timing: &RowTiming) -> Cycle {
        if self.open != NONE {
            self.open = NONE;
            self.free = self.closable.max(due) + timing.precharge;
        }
        self.free
    }

    /// Blocks accesses until a cycle. The row must be closed.
    pub fn block(&mut self, until: Cycle) {
        self.free = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(policy: &'static str) -> RowTiming {
        let profile = Profile::load("ixp2400").unwrap();
        RowTiming::new(&profile.with("dram", "rows", policy).unwrap())
    }

    #[test]
    fn open_row_hits_at_once_and_closes_for_another_row() {
        let (timing, mut row) = (timing("open"), OpenRow::default());
        assert_eq!(row.begin(5, 100, &timing), 100 + 12 + 10);
        row.end(false, 130, &timing);
        // The next row can be open a row cycle of 40 after this one was opened: this one is closed 12 before.
        assert_eq!((row.earliest(5), row.earliest(6)), (120, 128));
        assert!(row.is_hit(5) && !row.is_hit(6));
        assert_eq!(row.begin(5, 120, &timing), 120 + 10);
        row.end(false, 138, &timing);
        assert_eq!((row.earliest(5), row.earliest(6)), (128, 128));
        assert_eq!(row.begin(6, 128, &timing), 128 + 12 + 12 + 10);
        // A written row needs its recovery of 9 before it is closed.
        row.end(true, 170, &timing);
        assert_eq!((row.earliest(6), row.earliest(5)), (160, 179));
        assert_eq!(row.close(150, &timing), 179 + 12);
        assert_eq!((row.earliest(6), row.earliest(5)), (191, 191));
        assert_eq!(row.close(500, &timing), 191);
    }

    #[test]
    fn closed_page_policy_never_hits() {
        let (timing, mut row) = (timing("closed"), OpenRow::default());
        assert_eq!(row.begin(5, 100, &timing), 122);
        row.end(false, 130, &timing);
        assert!(!row.is_hit(5));
        assert_eq!((row.earliest(5), row.earliest(6)), (140, 140));
        assert_eq!(row.begin(5, 140, &timing), 162);
        row.end(true, 170, &timing);
        assert_eq!(row.earliest(5), 170 + 9 + 12);
    }
}
