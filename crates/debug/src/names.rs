//! The names of things: those of the project, and those of the programs where they are live.

use std::cmp::Ordering;

use npsim_chip::chip::Chip;
use npsim_chip::core::TransferOwner;
use npsim_image::{Image, ProgramPoint, RegisterSymbol, SignalSymbol, TransferDirection};
use npsim_inspect::Inspect;
use npsim_observe::series::{ProbeKind, Series};
use npsim_project::Project;

use crate::error::DebugError;

/// A memory of the chip. Addresses are byte addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The scratchpad.
    Scratch,
    /// A channel of SRAM.
    Sram(u8),
    /// DRAM, with all its channels.
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

    /// The memory with this name.
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

/// The project's names for rings, queues and memories.
#[derive(Clone, Debug, Default)]
pub struct ProjectNames {
    rings: Vec<(String, Ring)>,
    memories: Vec<(String, Memory, u32, u32)>,
    stages: Vec<(String, Vec<u8>)>,
}

impl ProjectNames {
    /// The names of a project.
    #[must_use]
    pub fn of(project: &Project) -> Self {
        let series = Series::new(project);
        let rings = series.places().iter().filter_map(|place| {
            let ring = match place.kind {
                ProbeKind::Ring { number } => Ring::Scratch(number),
                ProbeKind::Queue { channel, entry } | ProbeKind::Buffers { channel, entry } => {
                    Ring::Queue { channel, entry }
                }
                _ => return None,
            };
            // The free list is displayed as the buffers in use, and has its own name.
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
                // `npsim-project` (`resolve/`) describes a region as "memory `NAME`" or
                // "coprocessor `NAME`"; regions without a name have no backquotes.
                if let Some(name) = region.name.split('`').nth(1) {
                    let bytes = region.end - region.start;
                    memories.push((name.to_owned(), memory, region.start as u32, bytes as u32));
                }
            }
        }
        Self {
            rings: rings.collect(),
            memories,
            stages: project.stages.clone(),
        }
    }

    /// The project's name for the stage of a microengine, or the name of its program.
    #[must_use]
    pub fn stage(&self, chip: &Chip, me: u8) -> String {
        let stage = self.stages.iter().find(|it| it.1.contains(&me));
        stage.map_or_else(
            || {
                let core = chip.microengines().get(usize::from(me));
                let name = core.map_or("", |core| &core.program().image().name);
                let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
                name.trim_end_matches(".uc").to_owned()
            },
            |it| it.0.clone(),
        )
    }

    /// All rings and queues by name.
    #[must_use]
    pub fn rings(&self) -> &[(String, Ring)] {
        &self.rings
    }

    /// All named memories: name, memory, first byte, length in bytes.
    #[must_use]
    pub fn memories(&self) -> &[(String, Memory, u32, u32)] {
        &self.memories
    }

    /// The project's name for a ring or queue.
    #[must_use]
    pub fn of_ring(&self, ring: Ring) -> Option<&str> {
        let found = self.rings.iter().find(|it| it.1 == ring);
        found.map(|it| it.0.as_str())
    }

    /// The name of a ring or queue, from the project or by its number.
    #[must_use]
    pub fn ring_text(&self, ring: Ring) -> String {
        let named = self.of_ring(ring).map(ToOwned::to_owned);
        named.unwrap_or_else(|| match ring {
            Ring::Scratch(number) => format!("scratch ring {number}"),
            Ring::Queue { channel, entry } => format!("queue {entry} of sram{channel}"),
        })
    }

    /// The ring or queue with a name or number (`3`, `sram0:5`).
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn ring(&self, name: &str) -> Result<Ring, DebugError> {
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
            DebugError::new(format!("no ring or queue is called `{name}`"))
                .or_similar(name, names)
                .or_help("`rings` lists them"),
        )
    }

    /// The location of a named memory: memory, first byte, length in bytes.
    #[must_use]
    pub fn memory(&self, name: &str) -> Option<(Memory, u32, u32)> {
        let found = self.memories.iter().find(|it| it.0 == name);
        found.map(|it| (it.1, it.2, it.3))
    }
}

/// What a microengine's transfer register is reserved for: a command and its present location, or
/// unsolicited data.
#[must_use]
pub fn owner_text(inspect: &Inspect<'_>, me: u8, owner: &TransferOwner) -> String {
    inspect.flight_of(me, owner).map_or_else(
        || "data to come".to_owned(),
        |it| format!("{}, {}", it.text(inspect.now()), it.location_text()),
    )
}

/// The register or signal with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedRegister<'a> {
    /// A register, and the side if it is a transfer register.
    Register(&'a RegisterSymbol, TransferDirection),
    /// A signal.
    Signal(&'a SignalSymbol),
}

impl NamedRegister<'_> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Register(symbol, _) => &symbol.name,
            Self::Signal(symbol) => &symbol.name,
        }
    }
}

/// All names that are live and visible at a point, sorted. In an image without live ranges all
/// names are valid everywhere.
#[must_use]
pub fn live_at(image: &Image, point: ProgramPoint) -> Vec<NamedRegister<'_>> {
    let mut found: Vec<NamedRegister<'_>> = Vec::new();
    if image.has_live_ranges() {
        let registers = image.registers_live_at(point).into_iter();
        let registers = registers.filter(|it| it.visible);
        found.extend(registers.map(|it| NamedRegister::Register(it.symbol, it.side)));
        let signals = image.signals_live_at(point).into_iter();
        found.extend(
            signals
                .filter(|it| it.visible)
                .map(|it| NamedRegister::Signal(it.symbol)),
        );
    } else {
        let registers = image.registers.iter();
        found.extend(registers.map(|it| NamedRegister::Register(it, it.direction)));
        found.extend(image.signals.iter().map(NamedRegister::Signal));
    }
    found.sort_by(|a, b| by_number(a.name(), b.name()));
    found.dedup_by(|a, b| a.name() == b.name());
    found
}

/// The order of names by which `$i[10]` comes after `$i[9]`: embedded numbers are compared as
/// numbers.
fn by_number(a: &str, b: &str) -> Ordering {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (mut left, mut right) = (a, b);
    while !left.is_empty() && !right.is_empty() {
        let (m, n) = (digits(left), digits(right));
        let (m, n, numbers) = match (m, n) {
            (0, _) | (_, 0) => {
                let first = |text: &str| text.chars().next().map_or(0, char::len_utf8);
                (first(left), first(right), false)
            }
            both => (both.0, both.1, true),
        };
        let (one, other) = (&left[..m], &right[..n]);
        let value = |digits: &str| digits.trim_start_matches('0').len();
        let order = if numbers {
            let short = |digits: &str| digits.trim_start_matches('0').to_owned();
            value(one)
                .cmp(&value(other))
                .then_with(|| short(one).cmp(&short(other)))
        } else {
            one.cmp(other)
        };
        if order.is_ne() {
            return order;
        }
        (left, right) = (&left[m..], &right[n..]);
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// What a parameter of the macro around an instruction stands for in this use: a name, a number or
/// other text. `None` if there is no such parameter.
#[must_use]
pub fn argument<'a>(image: &'a Image, name: &str, point: ProgramPoint) -> Option<&'a str> {
    let innermost = image.frames(point.address).first()?.used?;
    let found = innermost.arguments.iter().find(|it| it.0 == name)?;
    Some(found.1.trim())
}

/// The meaning of a name at a point. In a macro, a parameter means what it
/// stands for.
///
/// # Errors
/// Returns an error if the name does not exist, or not at this point.
pub fn named<'a>(
    image: &'a Image,
    name: &str,
    point: ProgramPoint,
) -> Result<NamedRegister<'a>, DebugError> {
    let name = argument(image, name, point).unwrap_or(name);
    if let Some(it) = image.registers_named(name, point).first() {
        return Ok(NamedRegister::Register(it.symbol, it.side));
    }
    if let Some(symbol) = image.signal_named(name, point) {
        return Ok(NamedRegister::Signal(symbol));
    }
    let here = live_at(image, point);
    // Without live ranges, names are looked up literally.
    if let Some(it) = here.iter().find(|it| it.name() == name) {
        return Ok(*it);
    }
    let place = image.place(point.address);
    let live = { image.registers.iter() }
        .filter(|it| it.name == name)
        .flat_map(|it| it.live.iter().chain(&it.live_out));
    let signals = { image.signals.iter() }.filter(|it| it.name == name);
    let live = live.chain(signals.flat_map(|it| &it.live));
    let Some(first) = live.map(|range| range.first).min() else {
        let names = here.iter().map(NamedRegister::name);
        return Err(
            DebugError::new(format!("nothing is called `{name}` at {place}"))
                .or_similar(name, names)
                .or_help("`names` lists what is live here"),
        );
    };
    Err(
        DebugError::new(format!("`{name}` is not live at {place}")).help(format!(
            "its register holds another value here; it is live at {}, for example",
            image.place(first.address)
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::by_number;

    #[test]
    fn names_are_sorted_numerically() {
        let mut names = [
            "$$i[10]", "$$i[9]", "b", "$$i[1]", "a10", "a9", "a", "a09", "é2", "é10",
        ];
        names.sort_by(|a, b| by_number(a, b));
        assert_eq!(
            names,
            [
                "$$i[1]", "$$i[9]", "$$i[10]", "a", "a09", "a9", "a10", "b", "é2", "é10"
            ]
        );
    }
}
