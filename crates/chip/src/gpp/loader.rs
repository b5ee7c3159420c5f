//! Loads a boot plan into a chip that has not started.

use super::Gpp;
use super::boot::{BootPlan, QueueSetup, RingSetup};
use super::load_error::LoadError;
use super::memory_image::load_image;
use super::space::Space;
use crate::kernel::buffers::{BufferSetup, Buffers};
use crate::kernel::fabric::Fabric;
use crate::units::dram::Dram;
use crate::units::scratch::{RingRegister, Scratch};
use crate::units::sram::Sram;
use npsim_profile::Profile;

/// Largest number of ports: the port number in a receive status word has five bits.
const PORTS: usize = 32;

impl BootPlan {
    /// Checks the settings of the media interface.
    ///
    /// # Errors
    /// Returns an error if the element size, the number of ports or a line rate is impossible.
    pub(crate) fn check_media(&self) -> Result<(), LoadError> {
        for size in [self.element_size, self.transmit_element_size] {
            if !matches!(size, 0 | 64 | 128 | 256) {
                let text = format!("element size {size} is not 64, 128 or 256 bytes");
                return Err(LoadError::Media(text));
            }
        }
        if self.ports.len() > PORTS {
            let text = format!(
                "{} ports; the receive status word numbers {PORTS}",
                self.ports.len()
            );
            return Err(LoadError::Media(text));
        }
        match self.ports.iter().position(|p| p.bits_per_second == 0) {
            Some(port) => Err(LoadError::Media(format!(
                "port {port} has a line rate of 0"
            ))),
            None => Ok(()),
        }
    }

    /// Sets up rings, memory, queues, buffers and tables, and starts the core's tasks, in no
    /// simulated time.
    ///
    /// The order matters: devices come first, since their windows are addresses beyond the memory;
    /// memory contents come before queues and buffers, which write their descriptors and links over
    /// them; counters and locks only need existing memory; and tasks start last, since they may
    /// inspect all of it.
    ///
    /// # Errors
    /// Returns an error if something does not fit the chip.
    pub fn load(
        &self,
        profile: &Profile,
        fabric: &mut Fabric,
        scratch: &mut Scratch,
        sram: &mut Sram,
        dram: &mut Dram,
        gpp: &mut Gpp,
    ) -> Result<(), LoadError> {
        self.check_media()?;
        for device in &self.devices {
            sram.attach(device.clone(), profile)
                .map_err(|reason| LoadError::Device {
                    kind: device.kind(),
                    name: device.attachment().name.clone(),
                    reason,
                })?;
        }
        for &ring in &self.rings {
            load_ring(ring, profile, fabric, scratch)?;
        }
        for image in &self.memory {
            load_image(image, scratch, sram, dram)?;
        }
        for &queue in &self.queues {
            load_queue(queue, sram)?;
        }
        if let Some(buffers) = &self.buffers {
            load_buffers(buffers, sram, dram)?;
            fabric.buffers = Some(Buffers::new(*buffers));
        }
        for counter in &self.counters {
            if !counter.address.is_multiple_of(4) || scratch.read(counter.address).is_none() {
                return Err(LoadError::Counter {
                    name: counter.name.clone(),
                    address: counter.address,
                });
            }
        }
        for (index, lock) in (0..).zip(&self.locks) {
            let (name, address) = (lock.name.clone(), lock.address);
            let watched = address.is_multiple_of(4)
                && match lock.space {
                    Space::Scratch => scratch.watch_lock(index, name, address),
                    Space::Sram(channel) => sram.watch_lock(index, name, channel, address),
                    Space::Dram => false,
                };
            if !watched {
                return Err(LoadError::Lock {
                    name: lock.name.clone(),
                    space: lock.space,
                    address,
                });
            }
        }
        gpp.start(self.node, fabric, scratch, sram, dram)
    }
}

fn load_ring(
    ring: RingSetup,
    profile: &Profile,
    fabric: &mut Fabric,
    scratch: &mut Scratch,
) -> Result<(), LoadError> {
    let number = ring.number;
    let wrong = |reason| Err(LoadError::Ring { number, reason });
    if number > 15 {
        return wrong("there are rings 0 to 15".to_owned());
    }
    let Some(base) = ring.base_register() else {
        return wrong(format!(
            "its size {} is not 128, 256, 512 or 1024 longwords",
            ring.size
        ));
    };
    let bytes = u32::from(ring.size) * 4;
    if !ring.base.is_multiple_of(bytes) {
        return wrong(format!(
            "its base 0x{:x} is not a multiple of its size of {bytes} bytes",
            ring.base
        ));
    }
    if ring
        .base
        .checked_add(bytes)
        .is_none_or(|end| end > profile.scratch_bytes())
    {
        return wrong(format!(
            "it ends beyond the scratchpad's {} bytes",
            profile.scratch_bytes()
        ));
    }
    scratch.set_ring_register(number, RingRegister::Base, base, fabric);
    Ok(())
}

fn load_queue(queue: QueueSetup, sram: &mut Sram) -> Result<(), LoadError> {
    let QueueSetup {
        channel,
        entry,
        descriptor,
    } = queue;
    let wrong = |reason: &str| LoadError::Queue {
        channel,
        entry,
        reason: reason.to_owned(),
    };
    if channel > 3 || entry > 63 {
        return Err(wrong("there are channels 0 to 3 and entries 0 to 63"));
    }
    for word in 0..3 {
        let address = u32::from(channel) << 30 | (descriptor.wrapping_add(4 * word) & 0x3fff_fffc);
        if !sram.write_word(address, 0) {
            return Err(wrong("its descriptor is not in populated memory"));
        }
    }
    if sram.set_entry(channel, entry, [0; 3]) {
        Ok(())
    } else {
        Err(wrong("the chip lacks the channel or the entry"))
    }
}

fn load_buffers(buffers: &BufferSetup, sram: &mut Sram, dram: &Dram) -> Result<(), LoadError> {
    if buffers.first_descriptor == 0 {
        return Err(LoadError::Buffers(
            "the first descriptor is at 0, which means \"no buffer\"".to_owned(),
        ));
    }
    for index in 0..buffers.count {
        let descriptor = buffers.descriptor(index);
        if descriptor >= 1 << 24 || !sram.enqueue(buffers.channel, buffers.entry, descriptor) {
            let text = format!(
                "descriptor {index} at longword 0x{descriptor:x} of SRAM channel {} cannot be enqueued on entry {}",
                buffers.channel, buffers.entry
            );
            return Err(LoadError::Buffers(text));
        }
        let last =
            (u64::from(descriptor) << buffers.shift) + u64::from(buffers.size.saturating_sub(4));
        let populated = u32::try_from(last).is_ok_and(|at| dram.read_word(at & !3).is_some());
        if !populated {
            return Err(LoadError::Buffers(format!(
                "buffer {index} ends beyond DRAM, at 0x{last:x}"
            )));
        }
    }
    Ok(())
}
