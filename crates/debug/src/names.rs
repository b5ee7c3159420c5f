//! What things are called: by the project, and by the programs where a name is alive.

use npsim_image::{Direction, Image, Point, RegisterSymbol, SignalSymbol};
use npsim_isa::Operand;
use npsim_observe::series::{PlaceKind, Series};
use npsim_project::Project;

use crate::complaint::Complaint;

/// A memory of the chip. Addresses are those of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The scratchpad.
    Scratch,
    /// A channel of SRAM.
    Sram(u8),
    /// DRAM, whatever its channels.
    Dram,
    /// The local memory of a microengine.
    Local,
}

impl Memory {
    /// `scratch`, `sram0`, `dram`, `lm`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Scratch => "scratch".to_owned(),
            Self::Sram(channel) => format!("sram{channel}"),
            Self::Dram => "dram".to_owned(),
            Self::Local => "lm".to_owned(),
        }
    }

    /// The memory of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "scratch" => Some(Self::Scratch),
            "dram" => Some(Self::Dram),
            "lm" => Some(Self::Local),
            _ => {
                let channel = name.strip_prefix("sram")?.parse().ok()?;
                (channel < 4).then_some(Self::Sram(channel))
            }
        }
    }
}

/// A ring or queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ring {
    /// A scratch ring.
    Scratch(u8),
    /// A Q-array entry.
    Queue {
        /// The SRAM channel.
        channel: u8,
        /// The entry.
        entry: u8,
    },
}

/// What the project calls rings, queues and memories.
#[derive(Clone, Debug, Default)]
pub struct Names {
    rings: Vec<(String, Ring)>,
    memories: Vec<(String, Memory, u32, u32)>,
}

impl Names {
    /// Those of a project.
    #[must_use]
    pub fn of(project: &Project) -> Self {
        let series = Series::new(project);
        let rings = series.places().iter().filter_map(|place| {
            let ring = match place.kind {
                PlaceKind::Ring { number } => Ring::Scratch(number),
                PlaceKind::Queue { channel, entry } | PlaceKind::Buffers { channel, entry } => {
                    Ring::Queue { channel, entry }
                }
                _ => return None,
            };
            // The freelist is shown by what is in use, and has a name of its own.
            let named = match ring {
                Ring::Queue { channel, entry } => {
                    let mut queues = project.boot.queues.iter();
                    let queue = queues.find(|it| (it.channel, it.entry) == (channel, entry));
                    queue.and_then(|it| project.name_at(&format!("sram{channel}"), it.descriptor))
                }
                Ring::Scratch(_) => None,
            };
            Some((named.unwrap_or_else(|| place.name.clone()), ring))
        });
        let mut memories = Vec::new();
        for space in &project.spaces {
            let Some(memory) = Memory::named(&space.name) else {
                continue;
            };
            for region in space.regions() {
                if let Some(name) = region.name.split('`').nth(1) {
                    let bytes = region.end - region.start;
                    memories.push((name.to_owned(), memory, region.start as u32, bytes as u32));
                }
            }
        }
        Self {
            rings: rings.collect(),
            memories,
        }
    }

    /// All rings and queues by name.
    #[must_use]
    pub fn rings(&self) -> &[(String, Ring)] {
        &self.rings
    }

    /// All named memories: name, where, first byte, bytes.
    #[must_use]
    pub fn memories(&self) -> &[(String, Memory, u32, u32)] {
        &self.memories
    }

    /// What a ring or queue is called.
    #[must_use]
    pub fn of_ring(&self, ring: Ring) -> Option<&str> {
        let found = self.rings.iter().find(|it| it.1 == ring);
        found.map(|it| it.0.as_str())
    }

    /// The ring or queue of a name or number (`3`, `sram0:5`).
    ///
    /// # Errors
    /// There is none.
    pub fn ring(&self, name: &str) -> Result<Ring, Complaint> {
        if let Some((_, ring)) = self.rings.iter().find(|it| it.0 == name) {
            return Ok(*ring);
        }
        if let Ok(number @ 0..=15) = name.parse() {
            return Ok(Ring::Scratch(number));
        }
        if let Some((channel, entry)) = name.split_once(':')
            && let Some(Memory::Sram(channel)) = Memory::named(channel)
            && let Ok(entry @ 0..=63) = entry.parse()
        {
            return Ok(Ring::Queue { channel, entry });
        }
        let names = self.rings.iter().map(|it| it.0.as_str());
        Err(
            Complaint::new(format!("no ring or queue is called `{name}`"))
                .or_similar(name, names)
                .or_help("`rings` lists them"),
        )
    }

    /// Where a named memory is: its memory, first byte and bytes.
    #[must_use]
    pub fn memory(&self, name: &str) -> Option<(Memory, u32, u32)> {
        let found = self.memories.iter().find(|it| it.0 == name);
        found.map(|it| (it.1, it.2, it.3))
    }
}

/// A register or signal behind a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// A register, and which side of a transfer register.
    Register(&'a RegisterSymbol, Direction),
    /// A signal.
    Signal(&'a SignalSymbol),
}

impl Named<'_> {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Register(symbol, _) => &symbol.name,
            Self::Signal(symbol) => &symbol.name,
        }
    }
}

/// How many scopes are around one.
fn depth(image: &Image, scope: u32) -> usize {
    let parent = |scope: &u32| image.scopes.get(*scope as usize)?.parent;
    std::iter::successors(Some(scope), parent).count()
}

/// Which side of a register a symbol has at a point, if it is alive there.
fn alive(image: &Image, symbol: &RegisterSymbol, point: Point) -> Option<Direction> {
    if !image.has_live_ranges() {
        return Some(symbol.direction);
    }
    let on = |side| {
        let mut ranges = symbol.live_on(side).iter();
        ranges.any(|range| range.contains(point))
    };
    let transfer = matches!(
        symbol.operand,
        Operand::STransfer(_) | Operand::DTransfer(_)
    );
    match (transfer, on(Direction::Read), on(Direction::Write)) {
        (false, true, _) => Some(Direction::Both),
        (true, true, _) => Some(Direction::Read),
        (true, false, true) => Some(Direction::Write),
        _ => None,
    }
}

/// All names that are alive at a point, by name. Of several with one name the innermost
/// is meant.
#[must_use]
pub fn alive_at(image: &Image, point: Point) -> Vec<Named<'_>> {
    let mut found: Vec<(usize, Named<'_>)> = Vec::new();
    for symbol in &image.registers {
        if let Some(side) = alive(image, symbol, point) {
            let named = Named::Register(symbol, side);
            found.push((depth(image, symbol.scope), named));
        }
    }
    for symbol in &image.signals {
        let ranges = image.has_live_ranges();
        if !ranges || symbol.live.iter().any(|range| range.contains(point)) {
            found.push((depth(image, symbol.scope), Named::Signal(symbol)));
        }
    }
    found.sort_by(|a, b| (a.1.name(), b.0).cmp(&(b.1.name(), a.0)));
    found.dedup_by(|a, b| a.1.name() == b.1.name());
    found.into_iter().map(|it| it.1).collect()
}

/// What a name means at a point.
///
/// # Errors
/// Nothing is called so, or not there.
pub fn named<'a>(image: &'a Image, name: &str, point: Point) -> Result<Named<'a>, Complaint> {
    let mut here = alive_at(image, point);
    if let Some(at) = here.iter().position(|it| it.name() == name) {
        return Ok(here.swap_remove(at));
    }
    let place = image.place(point.address);
    let live = { image.registers.iter() }
        .filter(|it| it.name == name)
        .flat_map(|it| it.live.iter().chain(&it.live_out));
    let signals = { image.signals.iter() }.filter(|it| it.name == name);
    let live = live.chain(signals.flat_map(|it| &it.live));
    let Some(first) = live.map(|range| range.first).min() else {
        let names = here.iter().map(Named::name);
        return Err(
            Complaint::new(format!("nothing is called `{name}` at {place}"))
                .or_similar(name, names)
                .or_help("`names` lists what is alive here"),
        );
    };
    Err(
        Complaint::new(format!("`{name}` is not alive at {place}")).help(format!(
            "its register is used otherwise here; it is alive at {}, for one",
            image.place(first.address)
        )),
    )
}
