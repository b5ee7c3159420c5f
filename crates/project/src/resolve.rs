//! Resolves a project file: assigns an address to every name, applies the defaults, and reports all
//! errors at once, each with its place.

mod addresses;
mod devices;
mod disturb;
mod flows;
mod goals;
mod locks;
mod memory;
mod port_address;
mod programs;
mod queues;
pub(crate) mod resolver;
mod rings;
mod route_changes;
mod route_command;
mod routing;
mod slow_path;
mod task_keys;

use std::path::PathBuf;

use npsim_asm::spelling::closest;
use npsim_chip::gpp::boot::{BootPlan, PortSetup};
use npsim_image::{ContextMode, MemorySymbol, NnMode};
use npsim_profile::MediaBus;

use self::resolver::NamedMemory;
pub(crate) use self::routing::known_tasks;
use super::capacity::Capacity;
use super::disturb::{NodeStall, StallOption};
use super::file::{PortSection, ProjectFile};
use super::goals::Goal;
use super::layout::MemoryLayout;
use super::settings::{NetworkRoutes, Setting};
use crate::files::Files;
use crate::problem::{Problem, Problems};
use crate::project_text::ProjectText;
use crate::quantity::{parse_rate, show_rate};
use crate::registry::Registry;

pub use addresses::is_host;
pub use devices::DeviceWindow;
pub use port_address::{Gateway, PortAddress};
pub use resolver::{DefineText, Resolver};
pub use task_keys::{PortGroups, TaskMemory};

/// The program of one microengine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// Index of the microengine.
    pub me: u8,
    /// Path of the source.
    pub source: PathBuf,
    /// Names defined before the first line, with their values.
    pub defines: Vec<(String, String)>,
    /// Values of import variables, by name.
    pub imports: Vec<(String, u32)>,
    /// Whether to copy registers that are in the wrong bank.
    pub spill_moves: bool,
    /// Setup that bare words do not specify themselves.
    pub modes: Modes,
}

/// Setup of a microengine for bare words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Number of contexts that run.
    pub contexts: ContextMode,
    /// The writer of the next-neighbour registers.
    pub nn_mode: NnMode,
}

/// A project resolved for a chip.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// One entry for each microengine that runs, by index.
    pub programs: Vec<ProgramPlan>,
    /// Contents of the chip before the first cycle.
    pub boot: BootPlan,
    /// Description of each task of the general-purpose core.
    pub tasks: Vec<String>,
    /// The memories with their allocations.
    pub spaces: Vec<MemoryLayout>,
    /// The `[[memory]]` sections.
    pub memories: Vec<MemorySymbol>,
    /// The router's own address on each port.
    pub macs: Vec<[u8; 6]>,
    /// IPv4 addresses by port.
    pub addresses: Vec<Vec<PortAddress>>,
    /// Next hops given by IPv4 address.
    pub gateways: Vec<Gateway>,
    /// Named stages with their microengines.
    pub stages: Vec<(String, Vec<u8>)>,
    /// Stalls at individual nodes of a network.
    pub node_stalls: Vec<NodeStall>,
    /// Goals that a run must meet.
    pub goals: Vec<Goal>,
}

/// Command line options that override the project file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--chip`.
    pub chip: Option<String>,
    /// `--board`.
    pub board: Option<String>,
    /// `--me`: replaces the index list of the only `[[me]]`.
    pub ids: Option<String>,
    /// `-D`: replaces a project's `define` of the same name.
    pub defines: Vec<(String, String)>,
    /// `-I`: searched before the project's own folders.
    pub include: Vec<PathBuf>,
    /// `--import`: replaces a project's `import` of the same name.
    pub imports: Vec<(String, u32)>,
    /// `--spill-moves`.
    pub spill_moves: bool,
    /// `--set`: keys of the project file and parameters of the profile.
    pub set: Vec<Setting>,
    /// `--stall`: added to those of the project file.
    pub stalls: Vec<StallOption>,
    /// Treatment of the project file's routes when it is part of a network.
    pub routes: Option<NetworkRoutes>,
    /// Blocks of the routing table reserved for changes at run time; `None` if there are no such
    /// changes.
    pub route_blocks: Option<u32>,
}

/// Resolves every name of the project to its place on the chip.
///
/// # Errors
/// Returns all errors in the project.
pub(crate) fn resolve(
    files: &dyn Files,
    text: &ProjectText,
    file: &ProjectFile,
    capacity: &Capacity,
    overrides: &Overrides,
    registry: &Registry,
) -> Result<Resolved, Problems> {
    let mut resolver = Resolver::new(files, text, capacity);
    resolver.boot.task_kinds = registry.listed_tasks().map(str::to_owned).collect();
    resolver.include(&file.include);
    resolver.fixed_memory(&file.memory);
    resolver.ports(file);
    resolver.media(file);
    resolver.rings(&file.ring);
    resolver.queues(&file.queue, file.buffers.as_ref());
    resolver.routes(file, overrides.route_blocks);
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
    let memories = { file.memory.iter() }.filter_map(|it| resolver.named(it.name.get_ref()));
    let memories = memories.collect();
    let spaces = std::iter::once(resolver.scratch)
        .chain(resolver.sram)
        .chain([resolver.dram])
        .collect();
    Ok(Resolved {
        programs,
        memories,
        boot: resolver.boot,
        tasks: resolver.tasks,
        spaces,
        macs: resolver.macs,
        addresses: resolver.addresses,
        gateways: resolver.gateways,
        stages: resolver.stages,
        node_stalls: resolver.node_stalls,
        goals,
    })
}

impl Resolver<'_> {
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

    /// Returns an element size that the media interface supports, or `otherwise` if none is given.
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

    /// Checks that the chip has this SRAM channel.
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

/// Suggests what a wrong name may have been meant as.
fn suggestion<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    what: &str,
) -> String {
    if let Some(near) = closest(wrong, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    let all: Vec<_> = known.into_iter().map(|name| format!("`{name}`")).collect();
    match all.as_slice() {
        [] => format!("there is no {what} in the project"),
        [only] => format!("there is only {only}"),
        all => format!("choose one of {}", all.join(", ")),
    }
}

/// Returns the names by which sources identify the chip: its own, both as it is and in the form
/// used by microcode of the vendor's kit, and that of the family with its media bus.
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
