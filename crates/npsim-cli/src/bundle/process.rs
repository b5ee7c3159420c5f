//! Runs the command in a process of its own, so that a crash can be observed from outside.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, io, thread};

use npsim::problem::Problem;
use npsim_net::inputs;

use super::guest;

/// The environment variable with the folder into which the process records what it reads.
const NOTES: &str = "NPSIM_NOTE_INPUTS";
/// The interval at which the process is polled for its end.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The result of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessResult {
    pub ended: String,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Records what this process reads, if its parent asks for that.
pub fn note_if_asked() {
    if let Some(folder) = env::var_os(NOTES) {
        // If notes are missing, the process that reads them reports the error.
        let _ = inputs::record_inputs_to(Path::new(&folder));
    }
}

/// The running npsim command: a native program or a Python module.
fn npsim_command() -> io::Result<Command> {
    let program = env::current_exe()?;
    let mut command = Command::new(&program);
    let name = program.file_stem().map(OsStr::to_string_lossy);
    if name.is_some_and(|name| name.starts_with("python")) {
        // `-P`: modules in the bundle's folder must not shadow Python's.
        command.args(["-P", "-m", "npsim"]);
    }
    Ok(command)
}

/// Runs npsim with these words in a folder; `None` if it was interrupted. `within` is the folder of the bundle's
/// files, if it runs among those.
///
/// # Errors
/// Returns an error if it cannot be started.
pub fn run(
    words: &[String],
    folder: &Path,
    within: Option<&Path>,
    notes: &Path,
    stop: &Arc<AtomicBool>,
) -> Result<Option<ProcessResult>, Problem> {
    let failed = |error: io::Error| Problem::new(format!("the command cannot be run: {error}"));
    let (out, err) = (tempfile::tempfile(), tempfile::tempfile());
    let (mut out, mut err) = (out.map_err(failed)?, err.map_err(failed)?);
    let mut command = npsim_command().map_err(failed)?;
    for (name, _) in env::vars_os().filter(|(name, _)| guest::changes_output(name)) {
        command.env_remove(name);
    }
    if let Some(within) = within {
        command.env(guest::FOLDER, within);
    }
    let child = command
        .args(words)
        .current_dir(folder)
        .env(NOTES, notes)
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(err.try_clone().map_err(failed)?)
        .spawn();
    let mut child = child.map_err(failed)?;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if stop.load(Ordering::Relaxed) {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    };
    Ok(Some(ProcessResult {
        ended: ended(status),
        stdout: read_all(&mut out).map_err(failed)?,
        stderr: read_all(&mut err).map_err(failed)?,
    }))
}

fn read_all(file: &mut (impl io::Read + io::Seek)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        // `signal: 6 (SIGABRT) (core dumped)`: whether a core is dumped depends on the host.
        None => status.to_string().replace(" (core dumped)", ""),
    }
}
