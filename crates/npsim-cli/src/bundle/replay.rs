//! How a bundle is run again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use npsim::problem::Problem;

use super::archive::Bundle;
use super::command_line::{check_command, check_places};
use super::manifest::{Build, Manifest};
use super::outcome::differences;
use super::stage;

/// A bundle that is whole and that asks for nothing outside of it.
#[derive(Debug)]
pub struct Opened(Bundle);

/// Opens the bundle at `path`.
///
/// # Errors
/// It is damaged, of another version of the format, or no bundle; or it asks for what no bundle may.
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
    /// What it says.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// What npsim printed, standard output before standard error.
    #[must_use]
    pub fn printed(&self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&self.0.stdout) + &text(&self.0.stderr)
    }

    /// Whether another npsim made it than this one.
    #[must_use]
    pub fn made_by_another(&self) -> bool {
        let (made, own) = (&self.0.manifest.made_by, Build::own());
        (&made.version, &made.model) != (&own.version, &own.model)
    }

    /// Runs its command among its files in a temporary folder; gives what differs from what came of it before, or
    /// `None` if it was interrupted.
    ///
    /// # Errors
    /// The command cannot be run.
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
