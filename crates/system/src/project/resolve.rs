//! From what was typed to what it means: every name gets an address, every
//! default its value, every mistake a place. All mistakes are found in one go.

mod coprocessor;
mod flows;
mod locks;
mod memory;
mod queues;
mod rings;
mod routing;
mod slow_path;
mod task_keys;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use npsim_asm::image::{ContextMode, NnMode};
use npsim_asm::spelling::closest;
use npsim_chip::board::MediaBus;
use npsim_chip::gpp::boot::{self, Boot, PortSetup};

use super::capacity::Capacity;
use super::file::{Ids, MeSection, NnModeKind, PortSection, ProjectFile};
use super::layout::Space;
use super::origins::Origins;
use super::settings::Setting;
use super::text::{is_name, parse_ids, parse_mac, value_of};
use crate::firmware_file::is_bare;
use crate::problem::{Excerpt, Problem, Problems};
use crate::quantity::{parse_rate, show_rate};

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
pub struct Resolved {
    /// One entry for each microengine that runs, by index.
    pub programs: Vec<ProgramPlan>,
    /// What stands in the chip before the first cycle.
    pub boot: Boot,
    /// The memories with what is where.
    pub spaces: Vec<Space>,
    /// The router's own address on each port.
    pub macs: Vec<[u8; 6]>,
    /// Stages that have a name, with their microengines.
    pub stages: Vec<(String, Vec<u8>)>,
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
    pub(super) origins: Option<Arc<Origins>>,
}

impl ProjectText {
    /// A place in it.
    #[must_use]
    pub fn excerpt(&self, span: Range<usize>, label: impl Into<String>) -> Excerpt {
        if let Some(origins) = &self.origins {
            return origins.excerpt(&self.text, &self.path, span, label.into());
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
pub fn resolve(
    text: &ProjectText,
    file: &ProjectFile,
    capacity: &Capacity,
    overrides: &Overrides,
) -> Result<Resolved, Problems> {
    let mut resolver = Resolver {
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
        stages: Vec::new(),
        boot: Boot::default(),
    };
    resolver.fixed_memory(&file.memory);
    resolver.ports(file);
    resolver.media(file);
    resolver.rings(&file.ring);
    resolver.queues(&file.queue, file.buffers.as_ref());
    resolver.routes(file);
    resolver.flows(file);
    resolver.fitted_memory(&file.memory);
    resolver.coprocessor(file.coprocessor.as_ref());
    resolver.counters(&file.counter);
    resolver.locks(&file.lock, &file.memory);
    resolver.tasks(file);
    let programs = resolver.programs(file, overrides);
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
        spaces,
        macs: resolver.macs,
        stages: resolver.stages,
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
struct DefineText(String);

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

struct Resolver<'a> {
    text: &'a ProjectText,
    capacity: &'a Capacity,
    problems: Vec<Problem>,
    defines: BTreeMap<String, Define>,
    scratch: Space,
    sram: Vec<Space>,
    dram: Space,
    memories: BTreeMap<String, NamedMemory>,
    macs: Vec<[u8; 6]>,
    stages: Vec<(String, Vec<u8>)>,
    boot: Boot,
}

impl Resolver<'_> {
    fn fail(
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
    fn name(&mut self, name: &toml::Spanned<String>) -> bool {
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

    /// Defines a name for all sources.
    fn define(
        &mut self,
        name: String,
        value: impl Into<DefineText>,
        owner: &str,
        span: Range<usize>,
    ) {
        if let Some(other) = self.defines.get(&name) {
            let message = if other.owner == owner {
                format!("{owner} is given twice")
            } else {
                format!(
                    "`{name}` is defined twice: by {} and by {owner}",
                    other.owner
                )
            };
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
            self.boot.ports.push(PortSetup { bits_per_second });
        }
        self.define("PORT_COUNT".into(), count, owner, 0..0);
    }

    fn mac(&mut self, text: &toml::Spanned<String>) -> Option<[u8; 6]> {
        let mac = parse_mac(text.get_ref());
        if mac.is_none() {
            self.fail(
                text.span(),
                format!("`{}` is not a MAC address", text.get_ref()),
                "",
                "write six bytes in hexadecimal such as `02:00:00:00:01:00`",
            );
        }
        mac
    }

    fn media(&mut self, file: &ProjectFile) {
        let mut size = 64;
        if let Some(element_size) = &file.media.element_size {
            size = *element_size.get_ref();
            if ![64, 128, 256].contains(&size) {
                self.fail(
                    element_size.span(),
                    format!("an RBUF element cannot have {size} bytes"),
                    "",
                    "use 64, 128 or 256",
                );
            }
        }
        self.boot.element_size = size;
        self.define(
            "RBUF_ELEMENT_SIZE".into(),
            size,
            "the media interface",
            0..0,
        );
    }

    fn programs(&mut self, file: &ProjectFile, overrides: &Overrides) -> Vec<ProgramPlan> {
        for name in chip_names(self.capacity) {
            self.define(name, 1_u8, "the chip", 0..0);
        }
        let mut programs: Vec<(ProgramPlan, &MeSection)> = Vec::new();
        if file.me.is_empty() {
            self.problems.push(
                Problem::new("the project runs no microcode")
                    .help("add a [[me]] section with `id = 0` and `source = \"firmware.uc\"`"),
            );
        }
        if overrides.ids.is_some() && file.me.len() > 1 {
            self.problems.push(
                Problem::new(format!(
                    "--me is not clear: the project has {} [[me]] sections",
                    file.me.len()
                ))
                .help("change `id` in the project file instead"),
            );
            return Vec::new();
        }
        for section in &file.me {
            let source = self.source(section);
            let imports = self.imports(section, overrides);
            let modes = self.modes(section);
            let ids = self.ids(section, overrides);
            self.stage(section, &ids);
            for me in ids {
                if let Some((other, _)) = programs.iter().find(|(p, _)| p.me == me) {
                    let message = format!("microengine {me} is given two programs");
                    let label = format!("`{}` runs on it already", other.source.display());
                    self.fail(section.id.span(), message, label, "a microengine has one control store; take its index out of one of the lists");
                    continue;
                }
                programs.push((
                    ProgramPlan {
                        me,
                        source: source.clone(),
                        defines: Vec::new(),
                        imports: imports.clone(),
                        spill_moves: section.spill_moves || overrides.spill_moves,
                        modes,
                    },
                    section,
                ));
            }
        }
        programs.sort_by_key(|(plan, _)| plan.me);
        self.define("ME_COUNT".into(), programs.len(), "the chip", 0..0);
        self.define(
            "ME_MHZ".into(),
            self.capacity.hertz / 1_000_000,
            "the chip",
            0..0,
        );
        for section in &file.me {
            self.user_defines(section);
        }
        for (name, _) in &overrides.defines {
            self.command_line_define(name);
        }
        programs
            .into_iter()
            .map(|(plan, section)| self.with_defines(plan, section, overrides))
            .collect()
    }

    /// What sources know of a stage that has a name.
    fn stage(&mut self, section: &MeSection, ids: &[u8]) {
        let (Some(name), Some(first)) = (&section.name, ids.iter().min()) else {
            return;
        };
        if !self.name(name) {
            return;
        }
        self.stages.push((name.get_ref().clone(), ids.to_vec()));
        let owner = format!("the stage `{}`", name.get_ref());
        let prefix = name.get_ref().to_uppercase();
        self.define(format!("{prefix}_FIRST"), *first, &owner, name.span());
        self.define(format!("{prefix}_COUNT"), ids.len(), &owner, name.span());
    }

    fn source(&mut self, section: &MeSection) -> PathBuf {
        let path = join(&self.text.folder, Path::new(section.source.get_ref()));
        if !path.is_file() {
            self.fail(
                section.source.span(),
                format!("there is no source `{}`", path.display()),
                "looked for relative to the project's folder",
                "",
            );
        }
        path
    }

    /// The values of import variables, the command line's over the section's.
    fn imports(&mut self, section: &MeSection, overrides: &Overrides) -> Vec<(String, u32)> {
        let mut all = BTreeMap::new();
        for (name, value) in &section.import {
            if !self.name(name) {
                continue;
            }
            match value_of(*value.get_ref()) {
                Some(number) => {
                    all.insert(name.get_ref().clone(), number);
                }
                None => self.fail(
                    value.span(),
                    format!("{} does not fit 32 bits", value.get_ref()),
                    "",
                    "use -2147483648 to 4294967295",
                ),
            }
        }
        all.extend(overrides.imports.iter().cloned());
        all.into_iter().collect()
    }

    fn modes(&mut self, section: &MeSection) -> Modes {
        let mut modes = Modes::default();
        let contexts = section.contexts.as_ref().map(toml::Spanned::span);
        let given = contexts.or(section.nn_mode.as_ref().map(toml::Spanned::span));
        if let Some(span) = given
            && !is_bare(Path::new(section.source.get_ref()))
        {
            self.fail(
                span,
                "the modes of a microengine can be set for bare words only",
                "",
                "a source says `.num_contexts` and `.init_nn_mode`, and an image file has them; remove the key",
            );
            return modes;
        }
        match section.contexts.as_ref().map(|n| (*n.get_ref(), n.span())) {
            None | Some((8, _)) => {}
            Some((4, _)) => modes.contexts = ContextMode::Four,
            Some((other, span)) => self.fail(
                span,
                format!("{other} contexts are not possible"),
                "",
                "use 4 or 8",
            ),
        }
        if let Some(NnModeKind::Own) = section.nn_mode.as_ref().map(|m| *m.get_ref()) {
            modes.nn_mode = NnMode::Own;
        }
        modes
    }

    fn ids(&mut self, section: &MeSection, overrides: &Overrides) -> Vec<u8> {
        let (text, typed) = match (&overrides.ids, section.id.get_ref()) {
            (Some(ids), _) => (ids.clone(), true),
            (None, Ids::One(id)) => (id.to_string(), false),
            (None, Ids::List(list)) => (list.clone(), false),
        };
        match parse_ids(&text, self.capacity.microengines) {
            Ok(ids) => ids,
            Err(message) if typed => {
                self.problems
                    .push(Problem::new(format!("--me {text}: {message}")));
                Vec::new()
            }
            Err(message) => {
                self.fail(section.id.span(), message, "", "");
                Vec::new()
            }
        }
    }

    /// A section's own names must not be the project's.
    fn user_defines(&mut self, section: &MeSection) {
        for name in section.define.keys() {
            if !self.name(name) {
                continue;
            }
            if let Some(owner) = self.owner(name.get_ref()) {
                self.fail(
                    name.span(),
                    format!("`{}` is already defined by {owner}", name.get_ref()),
                    "",
                    "use another name",
                );
            }
        }
    }

    fn command_line_define(&mut self, name: &str) {
        if !is_name(name) {
            self.problems.push(
                Problem::new(format!(
                    "-D {name}: this is not a name that a source can use"
                ))
                .help("write -D NAME or -D NAME=VALUE with letters, digits and `_`"),
            );
        } else if let Some(owner) = self.owner(name) {
            self.problems.push(
                Problem::new(format!("-D {name}: the name is already defined by {owner}"))
                    .help("use another name"),
            );
        }
    }

    fn owner(&self, name: &str) -> Option<String> {
        match name {
            "ME_INDEX" | "ME_NUMBER" => Some("the chip".into()),
            _ => self.defines.get(name).map(|define| define.owner.clone()),
        }
    }

    fn with_defines(
        &self,
        mut plan: ProgramPlan,
        section: &MeSection,
        overrides: &Overrides,
    ) -> ProgramPlan {
        let mut all: BTreeMap<String, String> = self
            .defines
            .iter()
            .map(|(name, d)| (name.clone(), d.value.clone()))
            .collect();
        all.insert("ME_INDEX".into(), plan.me.to_string());
        all.insert(
            "ME_NUMBER".into(),
            self.capacity.me_numbers[usize::from(plan.me)].to_string(),
        );
        all.extend(
            section
                .define
                .iter()
                .map(|(name, value)| (name.get_ref().clone(), value.text())),
        );
        all.extend(overrides.defines.iter().cloned());
        plan.defines = all.into_iter().collect();
        plan
    }

    /// A channel that the chip has.
    fn channel(&mut self, channel: &toml::Spanned<u8>) -> Option<u8> {
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

/// `folder/path`, without a leading `./`.
pub(super) fn join(folder: &Path, path: &Path) -> PathBuf {
    if folder == Path::new(".") {
        path.to_path_buf()
    } else {
        folder.join(path)
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
mod slow_path_tests;
#[cfg(test)]
mod tests;
