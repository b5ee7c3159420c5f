//! Running a bundle again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use npsim::problem::Problem;

use super::archive::Bundle;
use super::command_line::{check_command, check_places};
use super::manifest::{Build, Manifest};
use super::outcome::differences;
use super::stage;

/// A bundle that is intact and refers to nothing outside itself.
#[derive(Debug)]
pub struct Opened(Bundle);

/// Opens the bundle at `path`.
///
/// # Errors
/// Returns an error if the file is damaged, has another version of the format, is no bundle, or requests what no
/// bundle may.
pub fn open(path: &Path) -> Result<Opened, Problem> {
    let bundle = Bundle::read(path)?;
    check_command(&bundle.manifest.request.command)?;
    check_places(
        &bundle.manifest.request.command,
        &bundle.manifest.request.folder,
    )?;
    Ok(Opened(bundle))
}

impl Opened {
    /// The bundle's manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// The output of the command, standard output before standard error.
    #[must_use]
    pub fn printed(&self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&self.0.stdout) + &text(&self.0.stderr)
    }

    /// Whether it was made by another npsim than this one.
    #[must_use]
    pub fn is_from_other_build(&self) -> bool {
        let (made, own) = (&self.0.manifest.made_by, Build::own());
        (&made.version, &made.model) != (&own.version, &own.model)
    }

    /// Runs the command among the bundle's files in a temporary folder. Returns the differences from the recorded
    /// outcome, or `None` if it was interrupted.
    ///
    /// # Errors
    /// Returns an error if the command cannot be run.
    pub fn replay(&self, stop: &Arc<AtomicBool>) -> Result<Option<Vec<String>>, Problem> {
        let bundle = &self.0;
        let Some(now) = stage::run(&bundle.manifest.request, &bundle.files, stop)? else {
            return Ok(None);
        };
        let texts = [
            ("standard output", &*bundle.stdout, &*now.stdout),
            ("standard error", &*bundle.stderr, &*now.stderr),
        ];
        let outside = { now.outside.iter() }.map(|path| {
            let path = path.display();
            format!("it reads `{path}`, which is not in the bundle")
        });
        let differ = differences(&bundle.manifest.outcome, &now.outcome, texts);
        Ok(Some(outside.chain(differ).collect()))
    }
}
