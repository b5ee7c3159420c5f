//! From what was typed to what it means: every name gets an address, every
//! default its value, every mistake a place. All mistakes are found in one go.

mod addresses;
mod devices;
mod disturb;
mod flows;
mod goals;
mod locks;
mod memory;
mod programs;
mod queues;
mod rings;
mod route_changes;
mod routing;
mod slow_path;
mod task_keys;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use npsim_asm::spelling::closest;
use npsim_chip::gpp::boot::{self, BootPlan, PortSetup};
use npsim_image::{ContextMode, NnMode};
use npsim_profile::MediaBus;

pub(crate) use self::routing::known_tasks;
use super::capacity::Capacity;
use super::disturb::{NodeStall, StallOption};
use super::file::{PortSection, ProjectFile};
use super::goals::Goal;
use super::layout::Space;
use super::settings::{NetworkRoute, Setting};
use super::source_map::SourceMap;
use super::text::is_name;
use crate::files::Files;
use crate::problem::{Excerpt, Problem, Problems};
use crate::quantity::{parse_rate, show_rate};
use crate::registry::Registry;

pub use addresses::{Gateway, PortAddress, is_host};
pub use devices::Window;
pub use task_keys::{Memory, PortGroups};

/// What runs on one microengine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// Its index.
    pub me: u8,
    /// The source.
    pub source: PathBuf,
    /// Defined before the first line, by name.
    pub defines: Vec<(String, String)>,
    /// Values of import variables, by name.
    pub imports: Vec<(String, u32)>,
    /// Whether registers are copied where banks do not fit.
    pub spill_moves: bool,
    /// What bare words do not say of themselves.
    pub modes: Modes,
}

/// How a microengine is set up for bare words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// How many contexts run.
    pub contexts: ContextMode,
    /// Who writes the next-neighbour registers.
    pub nn_mode: NnMode,
}

/// What a project comes to on a chip.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// One entry for each microengine that runs, by index.
    pub programs: Vec<ProgramPlan>,
    /// What stands in the chip before the first cycle.
    pub boot: BootPlan,
    /// What each task of the general-purpose core will do, for people.
    pub tasks: Vec<String>,
    /// The memories with what is where.
    pub spaces: Vec<Space>,
    /// The router's own address on each port.
    pub macs: Vec<[u8; 6]>,
    /// Its IPv4 addresses by port.
    pub addresses: Vec<Vec<PortAddress>>,
    /// Stages that have a name, with their microengines.
    pub stages: Vec<(String, Vec<u8>)>,
    /// What hangs at some nodes of a network alone.
    pub node_stalls: Vec<NodeStall>,
    /// What a run is to come to.
    pub goals: Vec<Goal>,
    /// Files that were read besides the project's.
    pub files: Vec<PathBuf>,
}

/// What the command line says over the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--chip`.
    pub chip: Option<String>,
    /// `--board`.
    pub board: Option<String>,
    /// `--me`: replaces the index list of the only `[[me]]`.
    pub ids: Option<String>,
    /// `-D`: replace a project's `define` of the same name.
    pub defines: Vec<(String, String)>,
    /// `-I`: looked through before the project's own.
    pub include: Vec<PathBuf>,
    /// `--import`: replace a project's `import` of the same name.
    pub imports: Vec<(String, u32)>,
    /// `--spill-moves`.
    pub spill_moves: bool,
    /// `--set`: keys of the project file and parameters of the profile.
    pub set: Vec<Setting>,
    /// `--stall`: besides those of the project file.
    pub stalls: Vec<StallOption>,
    /// In place of the routes of the project file, where it stands in a network.
    pub routes: Option<Vec<NetworkRoute>>,
}

/// The text of a project file and where it lies.
#[derive(Clone, Debug)]
pub struct ProjectText {
    /// As it is shown.
    pub path: String,
    /// Sources are relative to it.
    pub folder: PathBuf,
    /// The text, with everything that the file extends in it.
    pub text: Arc<str>,
    /// The files that it was read from: those that are extended, then the
    /// project file.
    pub files: Vec<PathBuf>,
    /// Where its keys stand, if it comes from several files.
    pub(super) source_map: Option<Arc<SourceMap>>,
}

impl ProjectText {
    /// A place in it.
    #[must_use]
    pub fn excerpt(&self, span: Range<usize>, label: impl Into<String>) -> Excerpt {
        if let Some(source_map) = &self.source_map {
            return source_map.excerpt(&self.text, &self.path, span, label.into());
        }
        Excerpt {
            path: self.path.clone(),
            text: self.text.clone(),
            span,
            label: label.into(),
        }
    }
}

/// Gives every name of the project its place on the chip.
///
/// # Errors
/// All mistakes in the project.
pub(crate) fn resolve(
    files: &dyn Files,
    text: &ProjectText,
    file: &ProjectFile,
    capacity: &Capacity,
    overrides: &Overrides,
    registry: &Registry,
) -> Result<Resolved, Problems> {
    let mut resolver = Resolver {
        files,
        text,
        capacity,
        problems: Vec::new(),
        defines: BTreeMap::new(),
        scratch: Space::new("scratch", capacity.scratch_bytes),
        sram: capacity
            .sram_bytes
            .iter()
            .enumerate()
            .map(|(i, size)| Space::new(format!("sram{i}"), *size))
            .collect(),
        dram: Space::new("dram", capacity.dram_bytes),
        memories: BTreeMap::new(),
        macs: Vec::new(),
        addresses: Vec::new(),
        gateways: Vec::new(),
        flow_classes: Vec::new(),
        stages: Vec::new(),
        node_stalls: Vec::new(),
        read: Vec::new(),
        clashes: Vec::new(),
        boot: BootPlan {
            task_kinds: registry.listed_tasks().map(str::to_owned).collect(),
            ..BootPlan::default()
        },
        tasks: Vec::new(),
    };
    resolver.include(&file.include);
    resolver.fixed_memory(&file.memory);
    resolver.ports(file);
    resolver.media(file);
    resolver.rings(&file.ring);
    resolver.queues(&file.queue, file.buffers.as_ref());
    resolver.routes(file);
    resolver.flows(file);
    resolver.fitted_memory(&file.memory);
    resolver.devices(&file.sections);
    resolver.counters(&file.counter);
    resolver.locks(&file.lock, &file.memory);
    resolver.tasks(file, registry);
    let programs = resolver.programs(file, overrides);
    resolver.disturbances(file, overrides, &programs);
    let goals = resolver.goals(file);
    if !resolver.problems.is_empty() {
        return Err(Problems(resolver.problems));
    }
    let spaces = std::iter::once(resolver.scratch)
        .chain(resolver.sram)
        .chain([resolver.dram])
        .collect();
    Ok(Resolved {
        programs,
        boot: resolver.boot,
        tasks: resolver.tasks,
        spaces,
        macs: resolver.macs,
        addresses: resolver.addresses,
        stages: resolver.stages,
        node_stalls: resolver.node_stalls,
        goals,
        files: resolver.read,
    })
}

/// A name that sources see, and what made it.
#[derive(Clone, Debug)]
struct Define {
    value: String,
    owner: String,
}

/// Where memory that has a name lies.
#[derive(Clone, Copy, Debug)]
struct NamedMemory {
    space: boot::Space,
    /// Byte address in the space.
    address: u32,
    /// Bytes.
    size: u64,
}

/// A value as the assembler gets it.
#[derive(Clone, Debug)]
pub struct DefineText(String);

impl From<String> for DefineText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

macro_rules! plain_numbers {
    ($($number:ty)+) => {
        $(impl From<$number> for DefineText {
            fn from(number: $number) -> Self {
                Self(number.to_string())
            }
        })+
    };
}

plain_numbers! { u8 u16 u32 u64 usize }

/// The project on its way onto the chip: what has a place already, and the mistakes so
/// far. Kinds of tasks and devices ([`crate::registry`]) use it to look up what their
/// keys name.
#[derive(Debug)]
pub struct Resolver<'a> {
    files: &'a dyn Files,
    text: &'a ProjectText,
    capacity: &'a Capacity,
    problems: Vec<Problem>,
    defines: BTreeMap<String, Define>,
    scratch: Space,
    sram: Vec<Space>,
    dram: Space,
    memories: BTreeMap<String, NamedMemory>,
    macs: Vec<[u8; 6]>,
    /// The router's own addresses by port; several are those of the routers of a chain.
    addresses: Vec<Vec<PortAddress>>,
    /// Next hops of which the IPv4 address is given.
    gateways: Vec<Gateway>,
    /// The class of each flow of the flow table, by number from 1 on.
    flow_classes: Vec<u8>,
    stages: Vec<(String, Vec<u8>)>,
    node_stalls: Vec<NodeStall>,
    /// Files that were read besides the project's.
    read: Vec<PathBuf>,
    /// Where a name was defined that another had, and whose it was.
    clashes: Vec<(usize, String)>,
    boot: BootPlan,
    /// What each task will do, for people.
    tasks: Vec<String>,
}

impl Resolver<'_> {
    /// What the chip has.
    #[must_use]
    pub fn capacity(&self) -> &Capacity {
        self.capacity
    }

    /// What stands in the chip before the first cycle, as far as it is known: ports,
    /// rings, queues, buffers and devices come before tasks.
    #[must_use]
    pub fn boot(&self) -> &BootPlan {
        &self.boot
    }

    /// How many mistakes have been found so far. A kind that finds none of its own
    /// may go on with what it looked up.
    #[must_use]
    pub fn mistakes(&self) -> usize {
        self.problems.len()
    }

    /// Says what is wrong at a place in the project file, with a label there and what
    /// to do about it; both may be empty.
    pub fn fail(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
        help: &str,
    ) {
        let mut problem = Problem::new(message).at(self.text.excerpt(span, label));
        if !help.is_empty() {
            problem = problem.help(help);
        }
        self.problems.push(problem);
    }

    /// Checks that a name can be used in sources.
    pub fn name(&mut self, name: &crate::keys::Spanned<String>) -> bool {
        let good = is_name(name.get_ref());
        if !good {
            self.fail(
                name.span(),
                format!("`{}` is not a name that a source can use", name.get_ref()),
                "",
                "use letters, digits and `_`, beginning with a letter",
            );
        }
        good
    }

    /// Defines a name for all sources; `owner` is what it belongs to, for people:
    /// ``the ring `R` ``.
    pub fn define(
        &mut self,
        name: String,
        value: impl Into<DefineText>,
        owner: &str,
        span: Range<usize>,
    ) {
        if let Some(other) = self.defines.get(&name) {
            // All the names of a thing that is there already are one mistake.
            let clash = (span.start, other.owner.clone());
            if self.clashes.contains(&clash) {
                return;
            }
            let message = if other.owner == owner {
                format!("{owner} is given twice")
            } else {
                format!(
                    "`{name}` is defined twice: by {} and by {owner}",
                    other.owner
                )
            };
            self.clashes.push(clash);
            self.fail(
                span,
                message,
                "the second one",
                "give one of them another name",
            );
            return;
        }
        self.defines.insert(
            name,
            Define {
                value: value.into().0,
                owner: owner.to_string(),
            },
        );
    }

    fn ports(&mut self, file: &ProjectFile) {
        let owner = "the ports";
        if file.port.len() > usize::from(self.capacity.ports) {
            self.problems.push(
                Problem::new(format!(
                    "{} ports are given, but the chip has at most {}",
                    file.port.len(),
                    self.capacity.ports
                ))
                .help("remove some of the [[port]] sections"),
            );
        }
        let board = self.capacity.board_ports.clone();
        if !board.is_empty() && file.port.len() > board.len() {
            self.problems.push(
                Problem::new(format!(
                    "{} ports are given, but the board {} has {}",
                    file.port.len(),
                    self.capacity.board,
                    board.len()
                ))
                .help("remove some of the [[port]] sections, or name a chip instead of a board: `profile` takes any ports"),
            );
        }
        let count = match file.port.len() {
            0 => board.len(),
            given => given,
        };
        let nothing = PortSection::default();
        for n in 0..count {
            let port = file.port.get(n).unwrap_or(&nothing);
            let most = board.get(n).copied();
            let mut bits_per_second = most.unwrap_or(1_000_000_000);
            if let Some(rate) = &port.rate {
                match parse_rate(rate.get_ref()) {
                    Ok(wanted) if most.is_some_and(|most| wanted > most) => self.fail(
                        rate.span(),
                        format!("port {n} of the board {} is not that fast", self.capacity.board),
                        format!("it has {}", show_rate(bits_per_second as f64)),
                        "a project can slow a board's port down, not speed it up; name a chip with `profile` instead of the board for ports of any rate",
                    ),
                    Ok(rate) => bits_per_second = rate,
                    Err(message) => self.fail(rate.span(), message, "", ""),
                }
            }
            let mut mac = [2, 0, 0, 0, n as u8 + 1, 0];
            if let Some(text) = &port.mac {
                mac = self.mac(text).unwrap_or(mac);
            }
            let [a, b, c, d, e, f] = mac;
            self.define(
                format!("PORT{n}_MAC_HI"),
                hex(u32::from_be_bytes([a, b, c, d])),
                owner,
                0..0,
            );
            self.define(
                format!("PORT{n}_MAC_LO"),
                hex(u32::from_be_bytes([0, 0, e, f])),
                owner,
                0..0,
            );
            self.define(
                format!("PORT{n}_MBPS"),
                bits_per_second / 1_000_000,
                owner,
                0..0,
            );
            self.macs.push(mac);
            let addresses = self.port_addresses(port.address.as_ref());
            self.addresses.push(addresses);
            self.boot.ports.push(PortSetup { bits_per_second });
        }
        self.check_addresses(file);
        self.define("PORT_COUNT".into(), count, owner, 0..0);
    }

    fn mac(&mut self, typed: &crate::keys::Spanned<String>) -> Option<[u8; 6]> {
        routing::typed_mac(typed)
            .map_err(|mistake| self.problems.push(mistake.at(self.text)))
            .ok()
    }

    fn media(&mut self, file: &ProjectFile) {
        let receive = self.element_size(file.media.element_size.as_ref(), "an RBUF", 64);
        let transmit =
            self.element_size(file.media.transmit_element_size.as_ref(), "a TBUF", receive);
        self.boot.element_size = receive;
        self.boot.transmit_element_size = transmit;
        for (name, size) in [
            ("RBUF_ELEMENT_SIZE", receive),
            ("TBUF_ELEMENT_SIZE", transmit),
        ] {
            self.define(name.into(), size, "the media interface", 0..0);
        }
    }

    /// An element size that the media interface has, or `otherwise` where none is given.
    fn element_size(
        &mut self,
        given: Option<&crate::keys::Spanned<u16>>,
        buffer: &str,
        otherwise: u16,
    ) -> u16 {
        let Some(given) = given else {
            return otherwise;
        };
        let size = *given.get_ref();
        if ![64, 128, 256].contains(&size) {
            self.fail(
                given.span(),
                format!("{buffer} element cannot have {size} bytes"),
                "",
                "use 64, 128 or 256",
            );
        }
        size
    }

    /// An SRAM channel that the chip has.
    pub fn channel(&mut self, channel: &crate::keys::Spanned<u8>) -> Option<u8> {
        let count = self.sram.len();
        if usize::from(*channel.get_ref()) < count {
            return Some(*channel.get_ref());
        }
        self.fail(
            channel.span(),
            format!("there is no SRAM channel {}", channel.get_ref()),
            format!("this chip has 0 to {}", count.saturating_sub(1)),
            "",
        );
        None
    }
}

/// `name`, with what it may have been meant as.
fn suggestion<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    if let Some(near) = closest(wrong, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    let all: Vec<_> = known.into_iter().map(|name| format!("`{name}`")).collect();
    if all.is_empty() {
        return format!("there is no {what} in the project");
    }
    format!("there is {}", all.join(", "))
}

/// The names by which sources know the chip: its own, as it is and as microcode
/// of the vendor's kit has it, and that of the family with its media bus.
fn chip_names(capacity: &Capacity) -> Vec<String> {
    let own: String = capacity
        .name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    let family = match capacity.media {
        MediaBus::Spi3 => "__IXP24XX",
        MediaBus::Spi4 => "__IXP28XX",
    };
    vec![format!("__{own}"), own, family.to_owned()]
}

fn hex(value: u32) -> String {
    format!("0x{value:08x}")
}

#[cfg(test)]
mod tests;
