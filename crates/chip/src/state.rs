//! Saving and restoring the state of a chip as bytes.
//!
//! [`Chip::save`] writes all state that a run has changed, but nothing that profile and programs
//! determine. [`Chip::restore`] therefore needs a chip made from the same profile, boot plan and
//! programs, which the caller has to ensure. Continuing gives the same results as an uninterrupted
//! run.
//!
//! The bytes carry no checksum and are meaningful only to the version of this crate that wrote
//! them.

use crate::chip::Chip;
pub use crate::kernel::saved_memory::StateError;
use crate::kernel::snapshot;

impl Chip {
    /// Serializes the state of the chip.
    ///
    /// # Errors
    /// Returns an error if the encoder fails, which no state causes.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        let cores: Vec<_> = self
            .microengines
            .iter()
            .map(|core| Ok((core.kind().name, core.save()?)))
            .collect::<Result<_, StateError>>()?;
        let (tasks, devices) = (self.gpp.save_tasks()?, self.units.sram.save_devices()?);
        let mut out = snapshot::to_bytes(&(self, cores, tasks, devices))?;
        self.units.save(&mut out);
        Ok(out)
    }

    /// Takes over a state saved by a chip of the same profile, boot plan and programs.
    ///
    /// No more memory is allocated than the bytes can fill, and a state that does not fit this chip
    /// is rejected. There is no proof that a chip can reach the state.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a state of such a chip; this chip is then unchanged.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        type Saved = (Chip, Vec<(String, Vec<u8>)>, Vec<Vec<u8>>, Vec<Vec<u8>>);
        let ((mut chip, cores, tasks, devices), mut rest) = snapshot::from_bytes::<Saved>(state)?;
        if cores.len() != self.microengines.len() {
            return Err(StateError::OtherChip("microengines"));
        }
        if !chip.fabric.is_consistent_with(&self.fabric) {
            return Err(StateError::OtherChip("microengines, units or commands"));
        }
        chip.fabric.profile = self.fabric.profile.clone();
        chip.fabric.complete();
        for (core, (saved, state)) in self.microengines.iter().zip(&cores) {
            let own = core.kind().name;
            if own != saved {
                return Err(StateError::OtherCore {
                    saved: saved.clone(),
                    own,
                });
            }
            chip.microengines.push(core.restored(state)?);
        }
        chip.units.restore(&self.units, &mut rest)?;
        let sram = &mut chip.units.sram;
        sram.restore_devices(&self.units.sram, &devices)?;
        chip.gpp.restore_tasks(&self.gpp, &tasks)?;
        if !rest.is_empty() {
            return Err(StateError::Long(rest.len()));
        }
        chip.set_skipping(self.is_skipping());
        chip.limit_pause();
        *self = chip;
        Ok(())
    }

    /// Size of all memories in bytes. With the commands in flight, it bounds the size of a saved
    /// state.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.units.memory_bytes()
    }

    /// Lets future copies share the pages of this chip's memories until one of them writes to a
    /// page.
    pub fn share_memory(&mut self) {
        self.units.share_memory();
    }

    /// Bytes of host memory taken by this chip's memories, not counting pages shared with the other
    /// chip.
    #[must_use]
    pub fn host_bytes(&self, beside: Option<&Self>) -> usize {
        self.units.host_bytes(beside.map(|it| &it.units))
    }
}
