//! Storage of large memories: pages are allocated when they are written to. Copies share pages
//! marked as shared until one of the copies writes to them.

use std::sync::Arc;

/// Number of elements of a page.
pub(crate) const PAGE: usize = 1024;

/// Memory of `T`, zero until written.
#[derive(Clone, Debug, Default)]
pub struct Paged<T> {
    pages: Vec<Page<T>>,
    len: usize,
    changes: u64,
}

/// A page. Sharing is explicit rather than reference-counted on each write: a run writes to memory
/// all the time, and hardly any run shares pages.
#[derive(Clone, Debug, Default)]
enum Page<T> {
    #[default]
    Zero,
    Own(Box<[T; PAGE]>),
    Shared(Arc<[T; PAGE]>),
}

impl<T: Copy + Default> Page<T> {
    /// The elements of the page; `None` if they are zeros.
    #[inline]
    fn cells(&self) -> Option<&[T; PAGE]> {
        match self {
            Self::Zero => None,
            Self::Own(cells) => Some(cells),
            Self::Shared(cells) => Some(cells),
        }
    }

    /// The page for writing, no longer shared with any copy of the memory.
    #[inline]
    fn own(&mut self) -> &mut [T; PAGE] {
        if !matches!(self, Self::Own(_)) {
            self.part();
        }
        match self {
            Self::Own(cells) => cells,
            Self::Zero | Self::Shared(_) => unreachable!("a page that was just made its own"),
        }
    }

    /// Copies a shared page, or allocates a zeroed one: once per page, so it is kept out of line.
    /// The allocator provides zeroed memory, which saves clearing it.
    #[cold]
    #[inline(never)]
    fn part(&mut self) {
        let cells = match self.cells() {
            Some(cells) => Box::new(*cells),
            None => vec![T::default(); PAGE]
                .into_boxed_slice()
                .try_into()
                .unwrap_or_else(|_| unreachable!("a page of another length")),
        };
        *self = Self::Own(cells);
    }

    /// Lets copies share the page.
    fn share(&mut self) {
        *self = match std::mem::take(self) {
            Self::Own(cells) => Self::Shared(Arc::from(cells)),
            shared => shared,
        };
    }
}

impl<T: Copy + Default + PartialEq> Paged<T> {
    /// Creates a zeroed memory of `len` elements.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self {
            pages: vec![Page::Zero; len.div_ceil(PAGE)],
            len,
            changes: 0,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Number of writes that changed something.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether the memory has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads an element; `None` beyond the end.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.len {
            return None;
        }
        Some(
            self.pages[index / PAGE]
                .cells()
                .map_or_else(T::default, |page| page[index % PAGE]),
        )
    }

    /// Writes an element.
    ///
    /// # Errors
    /// Returns an error if the index is beyond the end.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) -> Result<(), OutOfRange> {
        if index >= self.len {
            return Err(OutOfRange);
        }
        let cell = &mut self.pages[index / PAGE].own()[index % PAGE];
        self.changes += u64::from(*cell != value);
        *cell = value;
        Ok(())
    }

    /// Replaces an element by a function of itself. Returns the old and the new element.
    ///
    /// # Errors
    /// Returns an error if the index is beyond the end.
    #[inline]
    pub(crate) fn change(
        &mut self,
        index: usize,
        new: impl FnOnce(T) -> T,
    ) -> Result<(T, T), OutOfRange> {
        if index >= self.len {
            return Err(OutOfRange);
        }
        let cell = &mut self.pages[index / PAGE].own()[index % PAGE];
        let old = *cell;
        *cell = new(old);
        self.changes += u64::from(*cell != old);
        Ok((old, *cell))
    }

    /// Reads consecutive elements.
    ///
    /// # Errors
    /// Returns an error if they reach beyond the end; `out` is then unchanged.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the hot path of memories.
    pub fn read(&self, index: usize, out: &mut [T]) -> Result<(), OutOfRange> {
        self.check(index, out.len())?;
        // Nearly all reads stay within a page, and many are of one or two elements, which are
        // copied without a call.
        let at = index % PAGE;
        let Some(page) = self
            .pages
            .get(index / PAGE)
            .filter(|_| at + out.len() <= PAGE)
        else {
            self.read_pages(index, out);
            return Ok(());
        };
        match (page.cells(), &mut *out) {
            (None, out) => out.fill(T::default()),
            (Some(page), [one]) => *one = page[at],
            (Some(page), [one, other]) => (*one, *other) = (page[at], page[at + 1]),
            (Some(page), out) => out.copy_from_slice(&page[at..][..out.len()]),
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn read_pages(&self, index: usize, out: &mut [T]) {
        let mut done = 0;
        while done < out.len() {
            let at = index + done;
            let run = (PAGE - at % PAGE).min(out.len() - done);
            let target = &mut out[done..done + run];
            match self.pages[at / PAGE].cells() {
                Some(page) => target.copy_from_slice(&page[at % PAGE..][..run]),
                None => target.fill(T::default()),
            }
            done += run;
        }
    }

    /// Writes consecutive elements.
    ///
    /// # Errors
    /// Returns an error if they reach beyond the end; nothing is then written.
    #[inline]
    pub fn write(&mut self, index: usize, values: &[T]) -> Result<(), OutOfRange> {
        self.check(index, values.len())?;
        // Like reads, nearly all writes stay within a page and are short.
        let cells = (self.pages.get_mut(index / PAGE))
            .and_then(|page| page.own().get_mut(index % PAGE..)?.get_mut(..values.len()));
        let Some(cells) = cells else {
            self.write_pages(index, values);
            return Ok(());
        };
        let mut changed = false;
        for (cell, &value) in cells.iter_mut().zip(values) {
            changed |= *cell != value;
            *cell = value;
        }
        self.changes += u64::from(changed);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_pages(&mut self, index: usize, values: &[T]) {
        let mut done = 0;
        while done < values.len() {
            let at = index + done;
            let run = (PAGE - at % PAGE).min(values.len() - done);
            let cells = &mut self.pages[at / PAGE].own()[at % PAGE..][..run];
            let values = &values[done..done + run];
            self.changes += u64::from(cells != values);
            cells.copy_from_slice(values);
            done += run;
        }
    }

    /// The pages that contain anything but zeros, with their numbers.
    pub(crate) fn held_pages(&self) -> impl Iterator<Item = (usize, &[T; PAGE])> {
        let pages = self.pages.iter().enumerate();
        pages.filter_map(|(number, page)| {
            let page = page.cells()?;
            page.iter()
                .any(|value| *value != T::default())
                .then_some((number, page))
        })
    }

    /// Resets everything to zero.
    pub(crate) fn clear(&mut self) {
        self.pages.fill(Page::Zero);
    }

    /// A page that is to be written as a whole.
    ///
    /// # Errors
    /// Returns an error if the memory has no page of this number.
    pub(crate) fn page_mut(&mut self, number: usize) -> Result<&mut [T; PAGE], OutOfRange> {
        let page = self.pages.get_mut(number).ok_or(OutOfRange)?;
        Ok(page.own())
    }

    /// Lets future copies share its pages until one of them is written to.
    pub(crate) fn share(&mut self) {
        self.pages.iter_mut().for_each(Page::share);
    }

    /// Bytes of host memory taken, not counting pages shared with another memory.
    pub(crate) fn unshared_bytes(&self, other: Option<&Self>) -> usize {
        let others = other.map_or(&[][..], |other| &other.pages);
        let is_own = |(number, page): &(usize, &Page<T>)| match (page, others.get(*number)) {
            (Page::Zero, _) => false,
            (Page::Shared(page), Some(Page::Shared(other))) => !Arc::ptr_eq(page, other),
            _ => true,
        };
        let own = self.pages.iter().enumerate().filter(is_own);
        own.count() * size_of::<[T; PAGE]>() + size_of_val(&*self.pages)
    }

    fn check(&self, index: usize, len: usize) -> Result<(), OutOfRange> {
        match index.checked_add(len) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(OutOfRange),
        }
    }
}

/// An access beyond the memory's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no memory at this address")]
pub struct OutOfRange;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwritten_memory_reads_zero_without_allocating_pages() {
        let memory = Paged::<u32>::new(1 << 20);
        assert_eq!(memory.get(12345), Some(0));
        assert!(memory.pages.iter().all(|it| it.cells().is_none()));
    }

    #[test]
    fn reads_and_writes_cross_page_boundaries() {
        let mut memory = Paged::<u32>::new(3000);
        let values: Vec<u32> = (1..=2000).collect();
        memory.write(1000, &values).unwrap();
        let mut back = vec![9; 2002];
        memory.read(998, &mut back).unwrap();
        assert_eq!(back[..2], [0, 0]);
        assert_eq!(back[2..], values);
        assert_eq!(memory.get(2999), Some(2000));
    }

    #[test]
    fn copies_share_pages_until_written() {
        let mut memory = Paged::<u32>::new(4 * PAGE);
        memory.write(0, &[1; 3 * PAGE]).unwrap();
        memory.share();
        let mut copy = memory.clone();
        let table = size_of_val(&*memory.pages);
        let page = size_of::<[u32; PAGE]>();
        assert_eq!(memory.unshared_bytes(None), 3 * page + table);
        assert_eq!(copy.unshared_bytes(Some(&memory)), table);
        copy.set(PAGE + 1, 7).unwrap();
        copy.set(3 * PAGE, 7).unwrap();
        assert_eq!(copy.unshared_bytes(Some(&memory)), 2 * page + table);
        assert_eq!(
            (memory.get(PAGE + 1), memory.get(3 * PAGE)),
            (Some(1), Some(0))
        );
        // The other way around too, and a page that is owned again is not shared again.
        memory.set(0, 5).unwrap();
        assert_eq!((memory.get(0), copy.get(0)), (Some(5), Some(1)));
        let other = memory.clone();
        assert_eq!(other.unshared_bytes(Some(&memory)), page + table);
    }

    #[test]
    fn accesses_past_the_end_are_refused() {
        let mut memory = Paged::<u32>::new(10);
        assert_eq!(memory.get(10), None);
        assert_eq!(memory.set(10, 1), Err(OutOfRange));
        assert_eq!(memory.write(8, &[1, 2, 3]), Err(OutOfRange));
        assert_eq!(memory.get(8), Some(0), "a refused write leaves nothing");
        assert_eq!(memory.read(usize::MAX, &mut [0]), Err(OutOfRange));
        assert_eq!(memory.write(9, &[7]), Ok(()));
    }
}
