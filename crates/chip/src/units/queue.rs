//! A queue in which few stand.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Room behind which those who are gone make place.
const MOST_GONE: usize = 16;

/// A queue of few. Those who leave it stay in place until all have left or many have, so
/// that nobody moves up. A saved state holds it as a list.
#[derive(Clone, Debug)]
pub(super) struct Queue<T> {
    all: Vec<T>,
    /// The first of these have left.
    gone: usize,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            gone: 0,
        }
    }
}

impl<T: Copy> Queue<T> {
    /// How many stand in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.all.len() - self.gone
    }

    /// Whether nobody does: then nobody is kept in place either.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The one who came first.
    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.all.get(self.gone)
    }

    /// The first leaves.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        let first = *self.all.get(self.gone)?;
        self.gone += 1;
        if self.gone == self.all.len() {
            self.all.clear();
            self.gone = 0;
        }
        Some(first)
    }

    /// Another one comes.
    #[inline]
    pub fn push(&mut self, last: T) {
        if self.gone >= MOST_GONE {
            self.close_up();
        }
        self.all.push(last);
    }

    #[cold]
    #[inline(never)]
    fn close_up(&mut self) {
        self.all.drain(..self.gone);
        self.gone = 0;
    }

    /// Those who stand in it, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter().skip(self.gone)
    }

    /// The same, to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut().skip(self.gone)
    }
}

impl<T: Copy + Serialize> Serialize for Queue<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.all[self.gone..])
    }
}

impl<'de, T: Copy + Deserialize<'de>> Deserialize<'de> for Queue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Vec::deserialize(deserializer)?;
        Ok(Self { all, gone: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_who_comes_leaves_first() {
        let mut queue = Queue::default();
        let mut left = Vec::new();
        for number in 0..100 {
            queue.push(number);
            if number % 10 != 0 {
                left.extend(queue.take());
            }
        }
        assert_eq!(queue.len(), 10);
        assert_eq!(queue.first(), Some(&90));
        assert!(queue.iter().copied().eq(90..100));
        queue.iter_mut().for_each(|number| *number += 1);
        while let Some(number) = queue.take() {
            left.push(number - 1);
        }
        assert!(left.into_iter().eq(0..100));
        assert!(queue.is_empty());
    }

    #[test]
    fn only_those_who_stand_in_it_are_saved() {
        let mut queue = Queue::default();
        (1..=3).for_each(|number| queue.push(number));
        queue.take();
        let saved = postcard::to_allocvec(&queue).unwrap();
        assert_eq!(saved, postcard::to_allocvec(&vec![2, 3]).unwrap());
        let restored: Queue<i32> = postcard::from_bytes(&saved).unwrap();
        assert!(restored.iter().eq([2, 3].iter()));
    }
}
