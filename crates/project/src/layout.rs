//! Allocation in a memory: places fixed by the user, and others fitted around them.

use std::iter;
use std::ops::Range;

/// A named range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What occupies it.
    pub name: String,
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// One memory with its allocated ranges, in address order.
#[derive(Clone, Debug)]
pub struct MemoryLayout {
    /// The name as displayed: `scratch`, `sram0`, `dram`.
    pub name: String,
    /// Populated bytes.
    pub size: u64,
    taken: Vec<Region>,
    /// The gaps between the ranges. A project of many thousand ranges packs nearly all of them, so
    /// the gaps to search are few.
    free: Vec<Range<u64>>,
}

/// Why a range cannot be allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlacementError {
    /// The region overlaps another.
    Overlap(Region),
    /// The region extends beyond the populated memory.
    Outside,
    /// No gap is large enough; the value is the size of the largest.
    Full(u64),
}

impl MemoryLayout {
    /// Creates an empty memory.
    #[must_use]
    pub fn new(name: impl Into<String>, size: u64) -> Self {
        Self {
            name: name.into(),
            size,
            taken: Vec::new(),
            free: iter::once(0..size).collect(),
        }
    }

    /// Allocates a range at a given address.
    ///
    /// # Errors
    /// Returns an error if the range overlaps another or leaves the memory.
    pub fn reserve(
        &mut self,
        name: impl Into<String>,
        start: u64,
        size: u64,
    ) -> Result<(), PlacementError> {
        let end = start
            .checked_add(size)
            .filter(|end| *end <= self.size)
            .ok_or(PlacementError::Outside)?;
        // All ranges below the populated end are disjoint, so they end in the order they start.
        let at = self.taken.partition_point(|r| r.end <= start);
        if let Some(other) = self.taken.get(at).filter(|r| r.start < end) {
            return Err(PlacementError::Overlap(other.clone()));
        }
        let gap = self.free.partition_point(|gap| gap.end < end);
        if let Some(&Range {
            start: low,
            end: high,
        }) = self.free.get(gap)
        {
            let rest = [low..start, end..high];
            self.free
                .splice(gap..=gap, rest.into_iter().filter(|r| !r.is_empty()));
        }
        self.record(name.into(), start, end);
        Ok(())
    }

    /// Allocates the first aligned gap at or after `from` that is large enough.
    ///
    /// # Errors
    /// Returns an error if no gap is large enough.
    pub fn place(
        &mut self,
        name: impl Into<String>,
        from: u64,
        size: u64,
        align: u64,
    ) -> Result<u64, PlacementError> {
        let mut largest = 0;
        for gap in &self.free {
            let start = gap.start.max(from).next_multiple_of(align);
            let room = gap.end.saturating_sub(start);
            if size <= room {
                self.reserve(name, start, size)?;
                return Ok(start);
            }
            largest = largest.max(room);
        }
        Err(PlacementError::Full(largest))
    }

    /// Records a range beyond the populated memory that a device answers.
    pub fn attach(&mut self, name: impl Into<String>, start: u64, size: u64) {
        self.record(name.into(), start, start + size);
    }

    fn record(&mut self, name: String, start: u64, end: u64) {
        let at = self.taken.partition_point(|r| r.start < start);
        self.taken.insert(at, Region { name, start, end });
    }

    /// Returns the allocated ranges, in address order.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{MemoryLayout, PlacementError, Region};

    #[test]
    fn regions_are_placed_around_reserved_ranges() {
        let mut space = MemoryLayout::new("scratch", 1024);
        assert_eq!(space.reserve("fixed", 100, 28), Ok(()));
        assert_eq!(space.place("a", 0, 100, 4), Ok(0));
        assert_eq!(space.place("b", 0, 512, 512), Ok(512));
        assert_eq!(space.place("c", 0, 128, 4), Ok(128));
        assert_eq!(space.place("d", 0, 300, 4), Err(PlacementError::Full(256)));
        let names: Vec<_> = space.regions().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["a", "fixed", "c", "b"]);
    }

    #[test]
    fn attached_windows_use_no_memory() {
        let mut space = MemoryLayout::new("sram1", 64);
        space.attach("device", 8192, 8192);
        assert_eq!(space.place("all", 0, 64, 4), Ok(0));
        assert_eq!(space.place("more", 0, 4, 4), Err(PlacementError::Full(0)));
        let ends: Vec<_> = space.regions().iter().map(|r| r.end).collect();
        assert_eq!(ends, [64, 16384]);
    }

    #[test]
    fn overlapping_and_out_of_bounds_reservations_are_refused() {
        let mut space = MemoryLayout::new("dram", 64);
        assert_eq!(space.reserve("x", 0, 32), Ok(()));
        let x = Region {
            name: "x".into(),
            start: 0,
            end: 32,
        };
        assert_eq!(space.reserve("y", 31, 4), Err(PlacementError::Overlap(x)));
        assert_eq!(space.reserve("y", 32, 33), Err(PlacementError::Outside));
        assert_eq!(
            space.reserve("y", u64::MAX, 2),
            Err(PlacementError::Outside)
        );
        assert_eq!(space.reserve("y", 32, 32), Ok(()));
    }

    /// Places by a search of all ranges, which the gaps must agree with.
    fn first_fit(space: &MemoryLayout, from: u64, size: u64, align: u64) -> Option<u64> {
        let mut candidates = (from..space.size).filter(|at| at.is_multiple_of(align));
        candidates.find(|at| {
            let end = at + size;
            end <= space.size
                && space
                    .regions()
                    .iter()
                    .all(|r| r.end <= *at || end <= r.start)
        })
    }

    proptest! {
        #[test]
        fn placement_matches_exhaustive_first_fit(
            ranges in vec((any::<bool>(), 0..130u64, 1..20u64, 0..5u32), 0..24),
        ) {
            let mut space = MemoryLayout::new("scratch", 128);
            for (fixed, at, size, align) in ranges {
                if fixed {
                    let free = first_fit(&space, at, size, 1) == Some(at);
                    prop_assert_eq!(space.reserve("fixed", at, size).is_ok(), free);
                } else {
                    let expected = first_fit(&space, at, size, 1 << align);
                    prop_assert_eq!(space.place("fitted", at, size, 1 << align).ok(), expected);
                }
            }
        }
    }
}
