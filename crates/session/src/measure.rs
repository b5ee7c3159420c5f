//! Measurements of a chip by microcode: the idle latency of each operation, and
//! the peak bandwidth of each unit. The sources, those of `microcode/latency`
//! and `microcode/stress`, are embedded in the program.

pub mod bandwidth;
mod feedback;
pub mod latency;
mod rate;

use npsim_asm::{Includes, Options};
use npsim_chip::chip::Chip;
use npsim_chip::core::{CoreKind, Program};
use npsim_chip::gpp::boot::BootPlan;
use npsim_microcode::MEASURING;
use npsim_profile::Profile;

use npsim_project::diagnostics::render_diagnostic;
use npsim_project::problem::Problem;

/// Finds sources embedded in the program: in the including file's folder, then
/// in the library.
struct Embedded;

impl Includes for Embedded {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        let folder = including
            .and_then(|path| path.rsplit_once('/'))
            .map_or("", |(folder, _)| folder);
        let candidates = [
            name.to_owned(),
            format!("{folder}/{name}"),
            format!("lib/{name}"),
        ];
        MEASURING
            .iter()
            .find(|(path, _)| candidates.iter().any(|candidate| candidate == path))
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .ok_or_else(|| format!("`{name}` is not among the sources of the program"))
    }
}

/// A chip that runs one of the sources on some microengines.
fn chip(
    core: CoreKind,
    profile: &Profile,
    boot: &BootPlan,
    source: &str,
    microengines: std::ops::Range<u8>,
) -> Result<Chip, Problem> {
    let count = microengines.len();
    let mut programs = Vec::with_capacity(count);
    for me in microengines {
        let parts = boot.devices.iter().flat_map(|device| device.names());
        let own = [
            ("ME_INDEX".to_owned(), me.to_string()),
            ("ME_NUMBER".to_owned(), profile.number_of(me).to_string()),
            ("ME_COUNT".to_owned(), count.to_string()),
            (profile.name().to_uppercase(), "1".to_owned()),
        ];
        let options = Options {
            defines: own
                .into_iter()
                .chain(parts.map(|(name, at)| (name, format!("{at:#x}"))))
                .collect(),
            generation: profile.generation(),
            control_store_words: usize::from(profile.control_store_words()),
            local_memory_words: usize::from(profile.local_memory_words()),
            ..Options::default()
        };
        let assembly = npsim_asm::assemble(source, &Embedded, &options);
        let Some(image) = assembly.image else {
            let messages: Vec<_> = assembly
                .diagnostics
                .iter()
                .map(|diagnostic| render_diagnostic(diagnostic, &assembly.sources))
                .collect();
            return Err(Problem::new(format!(
                "the measurement `{source}` does not assemble:\n{}",
                messages.join("\n")
            )));
        };
        let program = Program::new(&image, profile).map_err(|error| {
            Problem::new(format!(
                "the measurement `{source}` cannot run on {}: {error}",
                profile.name()
            ))
        })?;
        programs.push((me, program));
    }
    Chip::new(core, profile.clone(), boot, programs)
        .map_err(|error| Problem::new(error.to_string()))
}

/// `part / whole` in tenths of a percent, rounded to the nearest.
fn permille(part: u128, whole: u128) -> u64 {
    if whole == 0 {
        return 0;
    }
    ((part * 1000 + whole / 2) / whole) as u64
}

/// A number of tenths as a decimal: 605 is `60.5`.
fn tenths(value: u64) -> String {
    format!("{}.{}", value / 10, value % 10)
}
