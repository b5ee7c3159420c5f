//! What a microengine's saved state leaves out: its program, which the image
//! gives again, and what its contexts have learned about it.

use super::{Lane, Microengine};

impl Microengine {
    /// For each context, which operations it still looks at before it executes
    /// them; nothing for a context that has not run yet.
    pub(crate) fn watched(&self) -> [Vec<u8>; 8] {
        std::array::from_fn(|context| self.lanes[context].watched())
    }

    /// Gives a state that was read its program back. `loaded` is the same
    /// microengine as it was loaded, `watched` what [`Self::watched`] gave.
    pub(crate) fn complete(&mut self, loaded: &Self, watched: &[Vec<u8>; 8]) {
        self.program = loaded.program.clone();
        if self.mode != loaded.mode {
            self.program.decode(self.mode);
        }
        for (context, (lane, watched)) in self.lanes.iter_mut().zip(watched).enumerate() {
            *lane = Lane::default();
            if !watched.is_empty() {
                *lane = Lane::new(&self.program.ops, context as u16 * 16);
                lane.relieve_as(watched);
            }
        }
        self.datapath.context &= 7;
        // One without a program never runs and has no lane.
        if !self.program.image.words.is_empty() {
            self.open_lane();
        }
    }
}
