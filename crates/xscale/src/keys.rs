//! `[gpp.program]`: the program that the core runs, and its settings.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use npsim_chip::gpp::exceptions::Exceptions;
use npsim_project::keys::Spanned;
use npsim_project::layout::PlacementError;
use npsim_project::registry::{PlannedTask, TaskKind};
use npsim_project::resolve::Resolver;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::cache::CacheMode;
use crate::elf::Program;
use crate::imports;
use crate::processor::Processor;
use crate::setup::Setup;

/// Compiler library functions that run on a division by zero.
const DIVISION: [&str; 4] = ["__aeabi_idiv0", "__aeabi_ldiv0", "__div0", "__idiv0"];

/// `[gpp.program]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramSection {
    /// The program: an ELF file for the XScale.
    elf: Spanned<String>,
    /// How the program's own memory is accessed; `model`, with the caches of the XScale, if not given.
    cache: Option<CacheKind>,
    /// The scratch rings that the program may use; if not given, all but those that tasks take from.
    #[schemars(extend("x-names" = "ring"))]
    rings: Option<Vec<Spanned<String>>>,
    /// Values of names that the program imports; they take precedence over those of the project.
    #[serde(default)]
    import: BTreeMap<Spanned<String>, Spanned<i64>>,
    /// Text that the UART receives.
    #[serde(default)]
    input: Vec<InputSection>,
}

/// How a program's own memory is accessed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CacheKind {
    /// Every access goes to DRAM.
    None,
    /// Accesses go through an instruction cache and a data cache.
    Model,
    /// Every access hits the cache.
    Perfect,
}

/// Text that the UART receives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputSection {
    /// Time at which the text arrives; the start of the run if not given.
    at: Option<Spanned<String>>,
    /// The text.
    text: String,
}

/// `program = "FILE"`, or the section.
#[derive(Debug)]
pub(crate) enum ProgramKeys {
    File(String),
    Section(Box<ProgramSection>),
}

impl<'de> Deserialize<'de> for ProgramKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = ProgramKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of an ELF file, or a section with `elf`")
            }

            fn visit_str<E>(self, file: &str) -> Result<ProgramKeys, E> {
                Ok(ProgramKeys::File(file.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ProgramKeys, A::Error> {
                let section = ProgramSection::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ProgramKeys::Section(Box::new(section)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for ProgramKeys {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProgramKeys".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let section = generator.subschema_for::<ProgramSection>();
        json_schema!({
            "description": "The program of the core: the path of an ELF file, or a section.",
            "anyOf": [{ "type": "string" }, section]
        })
    }
}

/// The kind of task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramKind;

impl TaskKind for ProgramKind {
    const NAME: &'static str = "program";
    const LISTED: bool = false;
    const RUNS: bool = true;
    type Keys = ProgramKeys;

    fn resolve(
        &self,
        keys: &Spanned<ProgramKeys>,
        resolver: &mut Resolver<'_>,
    ) -> Option<PlannedTask> {
        let before = resolver.mistakes();
        let whole = keys.span();
        let section = match keys.get_ref() {
            ProgramKeys::File(_) => None,
            ProgramKeys::Section(section) => Some(&**section),
        };
        let (file, span) = match keys.get_ref() {
            ProgramKeys::File(file) => (file, whole),
            ProgramKeys::Section(section) => (section.elf.get_ref(), section.elf.span()),
        };
        let (path, bytes) = resolver.file(file, span.clone())?;
        let name = path
            .file_name()
            .map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned());
        let program = match Program::read(&bytes) {
            Ok(program) => program,
            Err(error) => {
                let path = path.display();
                let message = format!("`{path}` is not a program for the core: {error}");
                resolver.fail(span, message, "", error.help());
                return None;
            }
        };
        place(&name, &program, &span, resolver);
        let own = own_imports(section, resolver);
        let folder = path.parent();
        let setup = Setup {
            folder: folder.map_or_else(String::new, |it| it.to_string_lossy().into_owned()),
            identity: identity(&bytes),
            cache: match section.and_then(|it| it.cache) {
                Some(CacheKind::None) => CacheMode::None,
                Some(CacheKind::Perfect) => CacheMode::Perfect,
                Some(CacheKind::Model) | None => CacheMode::Model,
            },
            forbidden_rings: forbidden_rings(section, resolver),
            exceptions: resolver.replaced_exceptions().cloned(),
            core_ring: resolver.core_ring(),
            input: input(section, resolver),
            imports: imports::values(&program, &own, &span, resolver),
            tables: imports::tables(&program, &span, resolver),
            zero_division_handlers: { DIVISION.iter() }
                .filter_map(|name| program.address_of(name))
                .collect(),
            shared: shared(resolver, &format!("the program {name}")),
            name,
            program,
        };
        (resolver.mistakes() == before).then_some(())?;
        Some(PlannedTask {
            text: text(&setup),
            task: Box::new(Processor::new(setup)),
        })
    }
}

/// A description of the task, for people.
fn text(setup: &Setup) -> String {
    let order = match setup.program.order {
        npsim_arm::ByteOrder::Big => "big-endian",
        npsim_arm::ByteOrder::Little => "little-endian",
    };
    // Segments may overlap, so the sum can exceed 4 GB.
    let bytes: u64 = { setup.program.memory.iter() }
        .map(|range| u64::from(range.end - range.start))
        .sum();
    let first = setup.program.memory.first().map_or(0, |it| it.start);
    let caches = match setup.cache {
        CacheMode::None => "without caches",
        CacheMode::Model => "with caches",
        CacheMode::Perfect => "with perfect caches",
    };
    format!(
        "runs {} ({order}, {bytes} bytes of DRAM from 0x{first:08x} on, {caches})",
        setup.name
    )
}

/// Reserves the program's ranges in DRAM.
fn place(name: &str, program: &Program, span: &Range<usize>, resolver: &mut Resolver<'_>) {
    let owner = format!("the program {name}");
    for range in &program.memory {
        let bytes = range.end - range.start;
        let place = format!("0x{:08x} to 0x{:08x}", range.start, range.end - 1);
        match resolver.reserve_dram(&owner, range.start, bytes) {
            Ok(()) => {}
            // Segments of one program may share bytes, as with data that is copied.
            Err(PlacementError::Overlap(other)) if other.name == owner => {}
            Err(PlacementError::Overlap(other)) => resolver.fail(
                span.clone(),
                format!("a segment of the program overlaps {}", other.name),
                format!(
                    "the segment is {place}, {} 0x{:08x} to 0x{:08x} of DRAM",
                    other.name,
                    other.start,
                    other.end - 1
                ),
                "link the program to other addresses: `program_base` of microcode/core/lib/core.ld",
            ),
            Err(PlacementError::Outside | PlacementError::Full(_)) => {
                let size = resolver.capacity().dram_bytes;
                resolver.fail(
                    span.clone(),
                    "a segment of the program lies outside of DRAM",
                    format!("the segment is {place}, and DRAM has 0x{size:x} bytes"),
                    "link the program to addresses of DRAM: `program_base` of microcode/core/lib/core.ld",
                );
            }
        }
    }
}

fn own_imports(
    section: Option<&ProgramSection>,
    resolver: &mut Resolver<'_>,
) -> Vec<(Spanned<String>, u32)> {
    let mut own = Vec::new();
    for (name, value) in section.iter().flat_map(|it| &it.import) {
        let number = *value.get_ref();
        let fits = u32::try_from(number).or_else(|_| i32::try_from(number).map(|it| it as u32));
        match fits {
            Ok(number) => own.push((name.clone(), number)),
            Err(_) => resolver.fail(
                value.span(),
                format!("{number} does not fit 32 bits"),
                "",
                "use -2147483648 to 4294967295",
            ),
        }
    }
    own
}

/// Rings that the program may not use, one bit each.
fn forbidden_rings(section: Option<&ProgramSection>, resolver: &mut Resolver<'_>) -> u16 {
    let taken = resolver.boot().task::<Exceptions>();
    let taken = taken.map(|task| task.setup().ring);
    let mut foreign = taken.map_or(0, |ring| 1 << ring);
    let Some(rings) = section.and_then(|it| it.rings.as_ref()) else {
        return foreign;
    };
    foreign = u16::MAX;
    for name in rings {
        let Some(ring) = resolver.ring_number(name) else {
            continue;
        };
        if taken == Some(ring) {
            resolver.fail(
                name.span(),
                format!("the task `exceptions` takes from the ring `{}`", name.get_ref()),
                "",
                "let either the task or the program have it: remove the task from `tasks`, or the ring from `rings`",
            );
        }
        foreign &= !(1 << ring);
    }
    foreign
}

fn input(section: Option<&ProgramSection>, resolver: &mut Resolver<'_>) -> Vec<(u64, u8)> {
    let mut all = Vec::new();
    for part in section.iter().flat_map(|it| &it.input) {
        let at = match &part.at {
            Some(at) => resolver.time(Some(at), "0us"),
            None => 0,
        };
        all.extend(part.text.bytes().map(|byte| (at, byte)));
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

/// The DRAM regions that the project lays out apart from the program.
fn shared(resolver: &Resolver<'_>, own: &str) -> Vec<Range<u32>> {
    let regions = resolver.dram_regions().iter();
    regions
        .filter(|region| region.name != own)
        .map(|region| region.start as u32..region.end as u32)
        .collect()
}

/// A number that is unlikely to be the same for another file (FNV-1a).
fn identity(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
