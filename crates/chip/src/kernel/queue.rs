//! Queues of commands at units.

/// The number of references of a command, 1 to 16 whatever its count field contains.
#[inline]
#[allow(clippy::manual_clamp)] // `clamp` compiles to branches.
pub fn references(count: u8) -> u8 {
    count.max(1).min(16)
}

/// Removes the entry at an index of a queue, if there is one. Few entries follow it, so they are
/// moved up one by one.
#[inline]
pub fn take_out<T: Copy>(queue: &mut Vec<T>, at: usize) -> Option<T> {
    let mut moved = queue.pop()?;
    for place in queue.get_mut(at..)?.iter_mut().rev() {
        std::mem::swap(place, &mut moved);
    }
    Some(moved)
}
