//! Allocation in a memory: places fixed by the user, and others fitted around them.

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
}

/// Why a range cannot be allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPlace {
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
    ) -> Result<(), NoPlace> {
        let end = start
            .checked_add(size)
            .filter(|end| *end <= self.size)
            .ok_or(NoPlace::Outside)?;
        if let Some(other) = self.taken.iter().find(|r| r.start < end && start < r.end) {
            return Err(NoPlace::Overlap(other.clone()));
        }
        let at = self.taken.partition_point(|r| r.start < start);
        self.taken.insert(
            at,
            Region {
                name: name.into(),
                start,
                end,
            },
        );
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
    ) -> Result<u64, NoPlace> {
        let mut start = from.next_multiple_of(align);
        let mut largest = 0;
        for region in self.taken.iter().filter(|r| r.end > from) {
            if start + size <= region.start {
                break;
            }
            largest = largest.max(region.start.saturating_sub(start));
            start = start.max(region.end.next_multiple_of(align));
        }
        if start + size > self.size {
            return Err(NoPlace::Full(largest.max(self.size.saturating_sub(start))));
        }
        self.reserve(name, start, size)?;
        Ok(start)
    }

    /// Records a range beyond the populated memory that a device answers.
    pub fn attach(&mut self, name: impl Into<String>, start: u64, size: u64) {
        let at = self.taken.partition_point(|r| r.start < start);
        self.taken.insert(
            at,
            Region {
                name: name.into(),
                start,
                end: start + size,
            },
        );
    }

    /// Returns the allocated ranges, in address order.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryLayout, NoPlace, Region};

    #[test]
    fn fits_around_what_is_fixed() {
        let mut space = MemoryLayout::new("scratch", 1024);
        assert_eq!(space.reserve("fixed", 100, 28), Ok(()));
        assert_eq!(space.place("a", 0, 100, 4), Ok(0));
        assert_eq!(space.place("b", 0, 512, 512), Ok(512));
        assert_eq!(space.place("c", 0, 128, 4), Ok(128));
        assert_eq!(space.place("d", 0, 300, 4), Err(NoPlace::Full(256)));
        let names: Vec<_> = space.regions().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["a", "fixed", "c", "b"]);
    }

    #[test]
    fn attached_windows_take_no_room() {
        let mut space = MemoryLayout::new("sram1", 64);
        space.attach("device", 8192, 8192);
        assert_eq!(space.place("all", 0, 64, 4), Ok(0));
        assert_eq!(space.place("more", 0, 4, 4), Err(NoPlace::Full(0)));
        let ends: Vec<_> = space.regions().iter().map(|r| r.end).collect();
        assert_eq!(ends, [64, 16384]);
    }

    #[test]
    fn refuses_overlap_and_outside() {
        let mut space = MemoryLayout::new("dram", 64);
        assert_eq!(space.reserve("x", 0, 32), Ok(()));
        let x = Region {
            name: "x".into(),
            start: 0,
            end: 32,
        };
        assert_eq!(space.reserve("y", 31, 4), Err(NoPlace::Overlap(x)));
        assert_eq!(space.reserve("y", 32, 33), Err(NoPlace::Outside));
        assert_eq!(space.reserve("y", u64::MAX, 2), Err(NoPlace::Outside));
        assert_eq!(space.reserve("y", 32, 32), Ok(()));
    }
}
