//! Threads that wait for mpackets, as written to the media interface's freelists.

use npsim_isa::{Context, msf_csr};
use serde::{Deserialize, Serialize};

use super::command::BusCommand;
use npsim_profile::{MediaBus, Profile};

/// Whether a byte address of the media interface is a receive freelist.
#[must_use]
pub const fn is_freelist(address: u32) -> bool {
    const FIRST: u32 = msf_csr::RX_THREAD_FREELIST_0 as u32;
    const LAST: u32 = msf_csr::RX_THREAD_FREELIST_2 as u32;
    address >= FIRST && address <= LAST && address.is_multiple_of(4)
}

/// A thread waiting for an mpacket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreelistEntry {
    /// Index of the microengine.
    pub me: u8,
    /// Context.
    pub context: u8,
    /// First of its two IN transfer registers, relative to the context.
    pub register: u8,
    /// Signal number.
    pub signal: u8,
}

impl FreelistEntry {
    /// Decodes the data written to `RX_THREAD_FREELIST_n`: signal in bits 15-12, context in 6-4,
    /// register in 3-0; the microengine is the cluster in bit 9 and its place in bits 8-7 on the
    /// IXP2400, and its five-bit number in bits 11-7 on the IXP2800.
    ///
    /// # Errors
    /// Returns an error if there is no such microengine.
    pub fn from_register(data: u32, profile: &Profile) -> Result<Self, String> {
        let field = (data >> 7 & 0x1f) as u8;
        let number = match profile.media() {
            // Cluster in bit 2, place in the cluster in the bits below.
            MediaBus::Spi3 => field >> 2 << 4 | field & 3,
            MediaBus::Spi4 => field,
        };
        let me = profile.index_of(number);
        let Some(me) = me else {
            return Err(format!(
                "0x{data:04x} names microengine field {field}, which this chip does not have"
            ));
        };
        Ok(Self {
            me,
            context: Context::wrapping((data >> 4) as u8).number(),
            register: (data & 15) as u8,
            signal: (data >> 12 & 15) as u8,
        })
    }

    /// Whether the issuer of the command that puts the thread on a freelist then gives its
    /// registers away: a microengine does for its own thread, if the data comes from its own
    /// registers.
    #[must_use]
    pub const fn claimed_by_issuer(self, command: &BusCommand) -> bool {
        self.me == command.me && command.transfer_me == command.me
    }

    /// Absolute number of the thread's first register.
    #[must_use]
    pub const fn absolute_register(self) -> u8 {
        Context::wrapping(self.context).absolute_register(self.register)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_freelists() {
        let lists = (0..0x100).filter(|address| is_freelist(*address));
        let named = [
            msf_csr::RX_THREAD_FREELIST_0,
            msf_csr::RX_THREAD_FREELIST_1,
            msf_csr::RX_THREAD_FREELIST_2,
        ];
        assert!(lists.eq(named.map(u32::from)));
    }

    #[test]
    fn freelist_word_matches_the_reference_driver_layout() {
        let profile = Profile::load("ixp2400").unwrap();
        // Signal 3, microengine 2 of cluster 1, context 5, register 4.
        let waiter =
            FreelistEntry::from_register(0x3000 | 1 << 9 | 2 << 7 | 5 << 4 | 4, &profile).unwrap();
        assert_eq!(
            waiter,
            FreelistEntry {
                me: 6,
                context: 5,
                register: 4,
                signal: 3
            }
        );
        assert_eq!(waiter.absolute_register(), 84);
        let text = FreelistEntry::from_register(0x10 << 7, &profile).unwrap_err();
        assert!(text.contains("field 16"), "{text}");
    }

    #[test]
    fn ixp2800_freelist_uses_hardware_microengine_numbers() {
        let profile = Profile::load("ixp2800").unwrap();
        let me =
            |number: u32| FreelistEntry::from_register(0x3000 | number << 7 | 5 << 4 | 4, &profile);
        for (number, index) in [(0x00, 0), (0x07, 7), (0x10, 8), (0x17, 15)] {
            let waiter = me(number).unwrap();
            assert_eq!((waiter.me, waiter.context, waiter.register), (index, 5, 4));
        }
        for number in [0x08, 0x0f, 0x18, 0x1f] {
            assert!(me(number).unwrap_err().contains("does not have"));
        }
    }
}
