//! The resources of a chip, as far as a project needs them.

use npsim_profile::{MediaBus, Profile};

/// Limits that a project is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Name of the chip.
    pub name: String,
    /// Name of the board.
    pub board: String,
    /// The bus to the ports.
    pub media: MediaBus,
    /// Line rates of the board's ports in bits a second; empty if projects define the ports.
    pub board_ports: Vec<u64>,
    /// Microengine clock, in hertz.
    pub hertz: u64,
    /// Number of microengines.
    pub microengines: u8,
    /// Number by which each microengine is addressed on the chip.
    pub me_numbers: Vec<u8>,
    /// Size of the scratchpad.
    pub scratch_bytes: u64,
    /// Number of scratch rings.
    pub scratch_rings: u8,
    /// Populated SRAM in bytes, by channel.
    pub sram_bytes: Vec<u64>,
    /// Number of Q-array entries per SRAM channel.
    pub queue_entries: u8,
    /// Populated DRAM in bytes, over all channels.
    pub dram_bytes: u64,
    /// Number of ports that the media interface can distinguish.
    pub ports: u8,
}

/// Number of scratch rings on every chip of the family.
const SCRATCH_RINGS: u8 = 16;
/// Number of ports that the port field of a receive status word can distinguish.
const PORTS: u8 = 16;

impl Capacity {
    /// Returns the capacity of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        Self {
            name: profile.name().to_string(),
            board: profile.board().name.clone(),
            media: profile.media(),
            board_ports: (profile.board().ports.iter())
                .map(|port| port.bits_per_second)
                .collect(),
            hertz: profile.me_mhz() * 1_000_000,
            microengines: profile.microengines(),
            me_numbers: (0..profile.microengines())
                .map(|me| profile.number_of(me))
                .collect(),
            scratch_bytes: u64::from(profile.scratch_bytes()),
            scratch_rings: SCRATCH_RINGS,
            sram_bytes: vec![
                u64::from(profile.sram_channel_bytes());
                usize::from(profile.sram_channels())
            ],
            queue_entries: profile.queue_entries(),
            dram_bytes: u64::from(profile.dram_channel_bytes())
                * u64::from(profile.dram_channels()),
            ports: PORTS,
        }
    }
}
