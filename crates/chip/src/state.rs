//! The state of a chip as bytes.
//!
//! [`Chip::save`] writes all that the past has left in the chip; what profile and
//! programs give again is not in it. [`Chip::restore`] therefore starts from a chip
//! that was made of the same profile, boot plan and programs, which the caller
//! has to make sure of. Running on gives the same as if nothing had happened.
//!
//! The bytes have no protection of their own and mean something only to the
//! version of this crate that wrote them.

use crate::chip::Chip;
pub use crate::kernel::saved_memory::StateError;
use crate::kernel::snapshot;

impl Chip {
    /// The state as bytes.
    ///
    /// # Errors
    /// The encoder refuses, which no state makes it do.
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

    /// Takes over a state that a chip of the same profile, boot plan and programs
    /// has saved.
    ///
    /// No more memory is allocated than the bytes can fill, and a state that does not fit this chip
    /// is refused. Nothing proves that the state is one that a chip can reach.
    ///
    /// # Errors
    /// The bytes are no state of such a chip; this chip is then as it was.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        type Saved = (Chip, Vec<(String, Vec<u8>)>, Vec<Vec<u8>>, Vec<Vec<u8>>);
        let ((mut chip, cores, tasks, devices), mut rest) = snapshot::from_bytes::<Saved>(state)?;
        if cores.len() != self.microengines.len() {
            return Err(StateError::OtherChip("microengines"));
        }
        if !chip.fabric.is_sound_beside(&self.fabric) {
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

    /// Bytes of all memories, which bound the size of a state together with
    /// what is in flight.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.units.memory_bytes()
    }

    /// Lets copies that are made from now on have the pages of this chip's memories
    /// without copying them, until one of them writes to a page.
    pub fn share_memory(&mut self) {
        self.units.share_memory();
    }

    /// Bytes of the host's memory that this chip's memories take beside those of another
    /// chip: what copies of one chip share is not counted.
    #[must_use]
    pub fn host_bytes(&self, beside: Option<&Self>) -> usize {
        self.units.host_bytes(beside.map(|it| &it.units))
    }
}
