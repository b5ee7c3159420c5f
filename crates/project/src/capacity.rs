//! How much of everything a chip has, as far as a project needs to know.

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
    /// Line rates of the board's ports in bits a second; none where a project
    /// brings its ports.
    pub board_ports: Vec<u64>,
    /// Microengine clock.
    pub hertz: u64,
    /// Microengines.
    pub microengines: u8,
    /// The number by which each is addressed on the chip.
    pub me_numbers: Vec<u8>,
    /// Scratchpad.
    pub scratch_bytes: u64,
    /// Scratch rings.
    pub scratch_rings: u8,
    /// Populated SRAM, by channel.
    pub sram_bytes: Vec<u64>,
    /// Q-array entries of an SRAM channel.
    pub queue_entries: u8,
    /// Populated DRAM, all channels together.
    pub dram_bytes: u64,
    /// Ports that the media interface can distinguish.
    pub ports: u8,
}

/// Scratch rings of every chip of the family.
const SCRATCH_RINGS: u8 = 16;
/// Ports that the port field of a receive status word can distinguish.
const PORTS: u8 = 16;

impl Capacity {
    /// What a profile says.
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
