//! Projects: which microcode runs on which microengines of which chip, with which rings, queues,
//! buffers, tables and ports.
//!
//! A target is a project file, its folder, or a single `.uc`, which then runs in the default
//! project. [`Project::load`] reads, checks and resolves it; `docs/src/project.md` describes the
//! file.

pub mod assemble;
pub mod atomic_file;
mod capacity;
mod chain;
mod defaults;
pub mod diagnostics;
pub mod disturb;
mod explain;
mod extends;
mod file;
pub mod files;
pub mod firmware_file;
pub mod goals;
mod hardware;
pub mod includes;
pub mod keys;
pub mod layout;
pub mod load;
pub mod look_aside;
pub mod messages;
pub mod problem;
mod program;
mod project_text;
pub mod registry;
pub mod resolve;
pub mod schema;
mod section;
mod settings;
mod source_map;
pub mod text;
pub mod timer_job;
pub mod toml_errors;
pub mod toml_reader;

use std::path::{Path, PathBuf};

use npsim_chip::gpp::boot::BootPlan;
use npsim_image::MemorySymbol;
use npsim_net::load::{Load, Prefix};
use npsim_profile::Profile;

pub use capacity::Capacity;
pub use hardware::{board, profile};
pub use npsim_net::quantity;
pub use project_text::ProjectText;
pub use registry::Registry;
pub use resolve::{Overrides, ProgramPlan};
pub use settings::{
    EntryName, Grammar, NetworkHop, NetworkRoute, NetworkRoutes, ProfileChange, Setting,
    apply_to_text, name_with_settings,
};

use crate::disturb::NodeStall;
use crate::files::{Disk, FileKind, Files, Input, TrackedFiles};
use crate::goals::Goal;
use crate::problem::{Problem, Problems};
use crate::quantity::Time;
use crate::toml_errors::KeyError;

/// Name of the project file within its folder.
pub const FILE_NAME: &str = "npsim.toml";
/// The chip if none is given.
pub(crate) const DEFAULT_CHIP: &str = "ixp2400";

/// A project with all names resolved.
#[derive(Clone, Debug)]
pub struct Project {
    /// The name.
    pub name: String,
    /// The project file, or the default one if there is none.
    pub text: ProjectText,
    /// Whether the text is the default for a single source.
    pub is_default: bool,
    /// The chip.
    pub profile: Profile,
    /// The resources of the chip.
    pub capacity: Capacity,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// One entry for each microengine that runs, by index.
    pub programs: Vec<ProgramPlan>,
    /// Contents of the chip before the first cycle.
    pub boot: BootPlan,
    /// Description of each task of the general-purpose core.
    pub tasks: Vec<String>,
    /// The memories with their allocations.
    pub spaces: Vec<layout::MemoryLayout>,
    /// The `[[memory]]` sections, for sources that initialise them.
    pub memories: Vec<MemorySymbol>,
    /// Settings that override the file, as given.
    pub settings: Vec<Setting>,
    /// Profile parameters changed by settings.
    pub profile_changes: Vec<ProfileChange>,
    /// Named stages with their microengines.
    pub stages: Vec<(String, Vec<u8>)>,
    /// The router's own address on each port.
    pub macs: Vec<[u8; 6]>,
    /// IPv4 addresses by port: one, or one for each router of a chain.
    pub addresses: Vec<Vec<resolve::PortAddress>>,
    /// Next hops given by IPv4 address, which the task `arp` resolves.
    pub gateways: Vec<resolve::Gateway>,
    /// Destinations of the routes, without those to the router itself.
    pub routed: Vec<Prefix>,
    /// Generated traffic, if the project defines any.
    pub load: Option<Load>,
    /// Stalls at individual nodes of a network, besides those of the boot plan, which apply to all
    /// nodes.
    pub node_stalls: Vec<NodeStall>,
    /// Delay of a bit from one router of a chain to the next.
    pub link_delay: Time,
    /// Goals that a run must meet, for exercises.
    pub goals: Vec<Goal>,
    /// Every file that was read besides those merged into the text: route changes, chips and
    /// boards, firmware whose microengines were looked up.
    pub inputs: Vec<Input>,
}

impl Project {
    /// Returns the project's name for the region that contains a byte of a memory.
    #[must_use]
    pub fn name_of(&self, space: &str, address: u32) -> Option<String> {
        let space = self.spaces.iter().find(|known| known.name == space)?;
        let mut regions = space.regions().iter();
        let region =
            regions.find(|region| (region.start..region.end).contains(&u64::from(address)))?;
        region.name.split('`').nth(1).map(str::to_owned)
    }

    /// Returns the project's name for the region that begins at a byte address of a memory:
    /// `scratch`, `sram0`, `dram`...
    #[must_use]
    pub fn name_at(&self, space: &str, address: u32) -> Option<String> {
        let space = self.spaces.iter().find(|known| known.name == space)?;
        let mut regions = space.regions().iter();
        let region = regions.find(|region| region.start == u64::from(address))?;
        region.name.split('`').nth(1).map(str::to_owned)
    }

    /// Reads a project file or the one in a folder, or generates the default one for a `.uc` or
    /// assembled firmware. The registry has the kinds of tasks and devices that the project can
    /// use.
    ///
    /// # Errors
    /// Returns all errors found in the project.
    pub fn load(
        target: &Path,
        overrides: &Overrides,
        registry: &Registry,
    ) -> Result<Self, Problems> {
        Self::load_from(&Disk, target, overrides, registry)
    }

    /// Reads a project from any source of files. The programs are read later, from the source
    /// passed to [`assemble::assemble_project_from`].
    ///
    /// # Errors
    /// See [`Self::load`].
    pub fn load_from(
        files: &dyn Files,
        target: &Path,
        overrides: &Overrides,
        registry: &Registry,
    ) -> Result<Self, Problems> {
        let noted = TrackedFiles::new(files);
        let files: &dyn Files = &noted;
        let (text, is_default) = read(files, target, overrides)?;
        let (text, applied) = {
            let routes = overrides.routes.as_ref();
            settings::apply(&text, &overrides.set, routes, registry)?
        };
        let mut overrides = overrides.clone();
        overrides.defines.extend(applied.defines);
        let overrides = &overrides;
        let file =
            file::parse(&text.text, registry).map_err(|error| refused_file(&text, &error))?;
        let profile = hardware::choose(files, &text, &file.chip, overrides)?;
        let (profile, profile_changes) = settings::apply_to_profile(profile, &applied.profile)?;
        let capacity = Capacity::of(&profile);
        let resolved = resolve::resolve(files, &text, &file, &capacity, overrides, registry)?;
        let folder = text.folder.clone();
        let own = file.include.iter().map(|path| {
            // A path that ends in a missing folder is kept as written.
            files::simplify_path(files, Path::new("."), &folder.join(path.get_ref()))
        });
        let include = overrides.include.iter().cloned().chain(own).collect();
        let outward = file.route.iter().filter(|route| !route.local);
        let routed = outward
            .filter_map(|route| route.prefix.get_ref().parse().ok())
            .collect();
        let name = file
            .name
            .clone()
            .unwrap_or_else(|| folder_name(files, &folder));
        let link_delay = file.chain.delay(&text)?;
        let mut inputs = noted.into_inputs();
        inputs.retain(|input| !text.files.contains(&input.path));
        Ok(Self {
            name,
            is_default,
            profile,
            capacity,
            include,
            programs: resolved.programs,
            boot: resolved.boot,
            tasks: resolved.tasks,
            spaces: resolved.spaces,
            memories: resolved.memories,
            settings: overrides.set.clone(),
            profile_changes,
            stages: resolved.stages,
            node_stalls: resolved.node_stalls,
            goals: resolved.goals,
            macs: resolved.macs,
            addresses: resolved.addresses,
            gateways: resolved.gateways,
            routed,
            load: file.load,
            link_delay,
            inputs,
            text,
        })
    }
}

/// Reports an error in the keys of a project file, at the place in the file where it was made.
fn refused_file(text: &ProjectText, error: &KeyError) -> Problem {
    let explanation = error.explain(toml_errors::PROJECT);
    let problem = Problem::new(explanation.message).at(text.excerpt(error.span(), ""));
    // An entry that lacks a required key was perhaps meant to change an entry of an extended file.
    let near = text.source_map.as_ref().filter(|_| error.is_missing_key());
    let near = near.and_then(|map| map.similar(&text.text, &error.span()));
    match near
        .map(|near| format!("did you mean `{near}`?"))
        .or(explanation.help)
    {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// Whether a target is a single source.
#[must_use]
pub fn is_source(target: &Path) -> bool {
    target
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("uc"))
}

/// Returns the default project for a source, which the file names `shown`, with the folders for
/// `#include` as the file names them.
///
/// # Errors
/// Returns an error if there is no such board.
pub fn default_text(
    files: &dyn Files,
    source: &Path,
    shown: &str,
    include: &[String],
    overrides: &Overrides,
) -> Result<String, Problem> {
    let name = source.file_stem().map_or_else(
        || "firmware".into(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let ids = overrides.ids.as_deref().unwrap_or("0");
    let board = match &overrides.board {
        Some(name) => Some((
            name.as_str(),
            hardware::named_board(files, name, Path::new(""))?,
        )),
        None => None,
    };
    Ok(defaults::default_project(
        &name,
        shown,
        include,
        ids,
        overrides.chip.as_deref().unwrap_or(DEFAULT_CHIP),
        board.as_ref().map(|(name, board)| (*name, board)),
    ))
}

fn read(
    files: &dyn Files,
    target: &Path,
    overrides: &Overrides,
) -> Result<(ProjectText, bool), Problem> {
    if target.to_str().is_none() {
        // Sources and messages need the name as text.
        return Err(
            Problem::new(format!("the name `{}` is not UTF-8", target.display()))
                .help("rename the file or its folder"),
        );
    }
    let kind = files
        .kind(target)
        .map_err(|error| Problem::io("read", target, &error))?;
    let firmware = crate::firmware_file::is_firmware(target);
    if (is_source(target) || firmware) && kind == FileKind::File {
        let mut overrides = overrides.clone();
        if firmware && overrides.ids.is_none() {
            overrides.ids = crate::firmware_file::microengines(files, target)?;
        }
        let shown = target
            .file_name()
            .map_or_else(|| target.to_string_lossy(), |name| name.to_string_lossy());
        let text = default_text(files, target, &shown, &[], &overrides)?;
        let path = format!("the default project for {}", target.display());
        return Ok((
            ProjectText {
                path,
                folder: folder_of(target),
                text: text.into(),
                files: Vec::new(),
                source_map: None,
            },
            true,
        ));
    }
    let path = if kind == FileKind::Folder {
        target.join(FILE_NAME)
    } else {
        target.to_path_buf()
    };
    let bytes = files.read(&path).map_err(|error| {
        let problem = Problem::io("read", &path, &error);
        if kind == FileKind::Folder {
            problem.help(no_project_in(files, target))
        } else {
            problem
        }
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Problem::new(format!("`{}` is not text", path.display()))
            .help("give a project file, its folder, a microcode source with the ending `.uc`, or an image with the ending `.npi`")
    })?;
    let text = ProjectText {
        path: path.display().to_string(),
        folder: folder_of(&path),
        text: text.into(),
        files: vec![path],
        source_map: None,
    };
    Ok((extends::merged(files, text)?, false))
}

/// Number of folders above a source that are searched for a project that runs it.
const FOLDERS_ABOVE: usize = 3;

/// Returns the project file, beside a source or in a folder above it, that runs the source.
#[must_use]
pub fn project_of(files: &dyn Files, source: &Path) -> Option<PathBuf> {
    let own = files.canonical(source).ok()?;
    let mut folder = folder_of(source);
    for _ in 0..=FOLDERS_ABOVE {
        let path = files::simplify_path(files, Path::new("."), &folder.join(FILE_NAME));
        if files.is_file(&path) && runs(files, &path, &own) {
            return Some(path);
        }
        folder.push("..");
    }
    None
}

/// Whether a project file runs the source at this canonical path.
fn runs(files: &dyn Files, project: &Path, own: &Path) -> bool {
    let Ok((text, _)) = read(files, project, &Overrides::default()) else {
        return false;
    };
    let Ok(table) = text.text.parse::<toml::Table>() else {
        return false;
    };
    let programs = table.get("me").and_then(toml::Value::as_array);
    let mut sources =
        { programs.into_iter().flatten() }.filter_map(|me| me.get("source")?.as_str());
    sources.any(|source| {
        let place = files.canonical(&folder_of(project).join(source));
        place.is_ok_and(|it| it == own)
    })
}

/// Suggests what to do about a folder without a project file of the usual name.
fn no_project_in(files: &dyn Files, folder: &Path) -> String {
    let paths = files.list(folder).unwrap_or_default();
    let text = format!("a project's folder has a file `{FILE_NAME}`");
    let list = |chosen: &dyn Fn(&Path) -> bool| {
        const SHOWN: usize = 6;
        let chosen = paths.iter().filter(|path| chosen(path));
        let mut names: Vec<_> = chosen.map(|path| format!("`{}`", path.display())).collect();
        names.sort();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        (!names.is_empty()).then(|| names.join(", "))
    };
    if let Some(projects) = list(&|path| is_other_project(files, path)) {
        return format!("{text}; here are the project files {projects}; give one of them");
    }
    match list(&is_source) {
        Some(sources) => format!(
            "{text}; here are the sources {sources}; give one of them, or make a project of it with `npsim new --from`"
        ),
        None => format!("{text}; `npsim new --from FIRMWARE.uc` writes one"),
    }
}

/// Whether a file looks like a project with another file name: it has microengines, or it extends a
/// file that may have some. A `NAME.part.toml` is meant to be extended.
fn is_other_project(files: &dyn Files, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !name.ends_with(".toml") || name.ends_with(".part.toml") {
        return false;
    }
    let bytes = files.read(path).unwrap_or_default();
    let table = String::from_utf8(bytes).unwrap_or_default();
    table
        .parse::<toml::Table>()
        .is_ok_and(|table| table.contains_key("me") || table.contains_key("extends"))
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn folder_name(files: &dyn Files, folder: &Path) -> String {
    let full = files
        .canonical(folder)
        .unwrap_or_else(|_| folder.to_path_buf());
    full.file_name().map_or_else(
        || "project".into(),
        |name| name.to_string_lossy().into_owned(),
    )
}
