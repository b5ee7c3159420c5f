//! `--checkpoint`, `--every` and `--resume`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgGroup, Args, CommandFactory, Parser};
use npsim::checkpoint::inputs::{self, Input};
use npsim::checkpoint::{Checkpoint, Origin};
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;
use npsim::quantity::Time;
use npsim::simulation::Simulation;
use npsim::wires::Wires;
use npsim_chip::Cycle;
use npsim_net::egress::PcapSink;

use super::{Arguments, parser};
use crate::output;

/// How a run is saved and gone on with.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("saved").multiple(true)))]
pub struct Options {
    /// Save the run to FILE now and then, and on Ctrl-C, so that `--resume FILE` can go on with it
    ///
    /// FILE is replaced as a whole, whenever the process ends. The first time is
    /// before the first cycle, the last when --until is reached.
    #[arg(long, value_name = "FILE", group = "saved")]
    checkpoint: Option<PathBuf>,
    /// Simulated time between two checkpoints
    #[arg(long, value_name = "TIME", default_value = "10ms", requires = "saved", value_parser = parser::<Time>())]
    every: Time,
    /// Go on with the run that was saved to FILE, to the same results as without a break
    ///
    /// Target, options and files are those of the first command, from the same
    /// folder. Only --until, --stats, --dump, --quiet, --message-format, --checkpoint
    /// and --every may be given anew. The run goes on saving to FILE.
    #[arg(long, value_name = "FILE", group = "saved")]
    resume: Option<PathBuf>,
}

impl Options {
    /// The checkpoint to go on from.
    pub fn resume(&self) -> Option<&PathBuf> {
        self.resume.as_ref()
    }

    /// Where checkpoints go.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        self.checkpoint.as_ref()
    }
}

/// What may be said anew of a run that goes on: it changes no result that was
/// not asked for.
const ANEW: [&str; 8] = [
    "resume",
    "until",
    "stats",
    "dump",
    "quiet",
    "message_format",
    "checkpoint",
    "every",
];

/// Ends the process with a usage error if there is anything else beside
/// `--resume`.
fn refuse_others() {
    let mut command = crate::Arguments::command();
    command.build();
    let matches = command.clone().get_matches_from(std::env::args_os());
    let (Some(run), Some(given)) = (
        command.find_subcommand_mut("run"),
        matches.subcommand_matches("run"),
    ) else {
        return;
    };
    let other = run.get_arguments().find(|argument| {
        let id = argument.get_id().as_str();
        // A flag that is not given has its default, which is no value of the command line.
        !ANEW.contains(&id) && given.value_source(id) == Some(ValueSource::CommandLine)
    });
    if let Some(other) = other {
        let name = match (other.get_long(), other.get_short()) {
            (Some(long), _) => format!("`--{long}`"),
            (None, Some(short)) => format!("`-{short}`"),
            (None, None) => "a target".to_owned(),
        };
        let message = format!(
            "{name} cannot be given with `--resume`: the run goes on as its first command says"
        );
        run.error(ErrorKind::ArgumentConflict, message).exit();
    }
}

/// What a saved command means.
fn parse(command: &[String], path: &Path) -> Result<Arguments, Problem> {
    let words = std::iter::once("npsim").chain(command.iter().map(String::as_str));
    let reason = match crate::Arguments::try_parse_from(words) {
        Ok(crate::Arguments {
            command: crate::Command::Run(arguments),
        }) => return Ok(arguments),
        Ok(_) => "it is no run".to_owned(),
        Err(error) => error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    Err(Problem::new(format!(
        "the command that is saved in `{}` is not understood: {reason}",
        path.display()
    ))
    .help("go on with the npsim that wrote it, or start the run anew"))
}

/// Lets a later command say anew what it may.
fn overlay(arguments: &mut Arguments, later: &Arguments, given_every: bool) {
    if later.until.is_some() {
        arguments.until = later.until;
    }
    if later.stats.is_some() {
        arguments.stats.clone_from(&later.stats);
    }
    if !later.dump.is_empty() {
        arguments.dump.clone_from(&later.dump);
    }
    arguments.quiet |= later.quiet;
    arguments.messages.take_format(&later.messages);
    let file = later.saving.checkpoint.as_ref().or(later.saving.resume());
    if let Some(file) = file {
        arguments.saving.checkpoint = Some(file.clone());
    }
    if given_every {
        arguments.saving.every = later.saving.every;
    }
}

/// The command of a run that goes on, and where it stands.
pub fn resumed(now: &Arguments, path: &Path) -> Result<(Arguments, Checkpoint), Problem> {
    refuse_others();
    let checkpoint = Checkpoint::read(path)?;
    let own = own_command()?;
    let mut commands = checkpoint.origin().commands.iter();
    let Some(first) = commands.next() else {
        return Err(Problem::new(format!(
            "the checkpoint `{}` does not say which command it is from",
            path.display()
        ))
        .help("start the run anew"));
    };
    let mut arguments = parse(first, path)?;
    for command in commands {
        overlay(&mut arguments, &parse(command, path)?, gives_every(command));
    }
    overlay(&mut arguments, now, gives_every(&own));
    Ok((arguments, checkpoint))
}

/// Whether a command names its interval; the default must not replace that of
/// an earlier one.
fn gives_every(command: &[String]) -> bool {
    command
        .iter()
        .any(|word| word == "--every" || word.starts_with("--every="))
}

/// The arguments of this process.
fn own_command() -> Result<Vec<String>, Problem> {
    let words = std::env::args_os().skip(1).map(|word| {
        word.into_string().map_err(|word| {
            Problem::new(format!(
                "the argument `{}` cannot be saved: it is not UTF-8",
                word.display()
            ))
            .help("give the file another name")
        })
    });
    words.collect()
}

/// Told beside a mistake in a run that goes on in another folder than before.
pub fn tell_folder(checkpoint: &Checkpoint) {
    let folder = &checkpoint.origin().folder;
    if current_folder() != *folder {
        output::line(&format!(
            "note: the run was started in `{folder}`, to which the paths in its command are relative"
        ));
    }
}

fn current_folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

/// Saves a run from time to time.
pub struct Saver {
    path: PathBuf,
    every: Cycle,
    origin: Origin,
    before: Duration,
    started: Instant,
    next: Cycle,
    /// The cycle of the last one; nothing has happened since if it is still that.
    saved: Option<Cycle>,
    told: bool,
}

impl Saver {
    /// For a run of these inputs that is about to begin, or to go on from
    /// `checkpoint`; none if it is not to be saved. Refuses to go on with other inputs.
    pub fn new(
        arguments: &Arguments,
        checkpoint: Option<&Checkpoint>,
        hertz: u64,
        inputs: Vec<Input>,
    ) -> Result<Option<Self>, Problem> {
        let Some(path) = arguments.saving.checkpoint() else {
            return Ok(None);
        };
        let every = arguments.saving.every.cycles(hertz);
        if every == 0 {
            return Err(Problem::new(
                "`--every` is less than a cycle, so the run would never go on",
            )
            .help("give a longer time, such as `--every 1ms`"));
        }
        let mut commands = Vec::new();
        if let Some(checkpoint) = checkpoint {
            inputs::compare(&checkpoint.origin().inputs, &inputs)?;
            commands.clone_from(&checkpoint.origin().commands);
        }
        commands.push(own_command()?);
        Ok(Some(Self {
            path: path.clone(),
            every,
            origin: Origin {
                commands,
                folder: current_folder(),
                inputs,
            },
            before: Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds)),
            started: Instant::now(),
            next: 0,
            saved: None,
            told: false,
        }))
    }

    /// When to save next.
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Saves the run as it stands.
    pub fn save(&mut self, simulation: &Simulation, wires: &mut Wires<'_>) -> Result<(), Problem> {
        let host = self.before + self.started.elapsed();
        let nanoseconds = u64::try_from(host.as_nanos()).unwrap_or(u64::MAX);
        let now = simulation.now();
        self.next = (now.max(self.next) / self.every + 1).saturating_mul(self.every);
        if self.saved != Some(now) {
            Checkpoint::take(&self.origin, simulation, wires, nanoseconds)?.write(&self.path)?;
            self.saved = Some(now);
        }
        Ok(())
    }

    /// The same in the middle of a run, which a full disk does not end: the
    /// checkpoint before stays, and that is told once.
    pub fn try_save(&mut self, simulation: &Simulation, wires: &mut Wires<'_>) {
        if let Err(problem) = self.save(simulation, wires)
            && !std::mem::replace(&mut self.told, true)
        {
            output::message(&render_problem(&problem));
            output::line("note: the run goes on; the checkpoint before stays");
        }
    }
}

/// Removes the checkpoint of an earlier run, because the capture that it goes on
/// with is about to be replaced.
fn forget(path: &Path) -> Result<(), Problem> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::io("replace", path, &error))
        }
        _ => Ok(()),
    }
}

/// The capture of departures, at the place where it is to go on.
pub fn sink(
    arguments: &Arguments,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<PcapSink>, Problem> {
    let Some(path) = &arguments.out else {
        return Ok(None);
    };
    let sink = match checkpoint.map(Checkpoint::capture) {
        Some(Some(position)) => PcapSink::resume(path, position),
        Some(None) => {
            return Err(
                Problem::new("the checkpoint has no capture, but its command writes one")
                    .help("start the run anew"),
            );
        }
        None => match arguments.saving.checkpoint() {
            Some(checkpoint) => {
                if checkpoint.is_file() {
                    forget(checkpoint)?;
                }
                PcapSink::create_kept(path)
            }
            None => PcapSink::create(path),
        },
    };
    sink.map(Some)
        .map_err(|error| Problem::io("write", path, &error))
}

/// Takes the run to where the checkpoint stands.
pub fn restore(
    checkpoint: &Checkpoint,
    simulation: &mut Simulation,
    wires: &mut Wires<'_>,
    until: Option<Cycle>,
) -> Result<(), Problem> {
    if let Some(until) = until
        && until < checkpoint.cycle()
    {
        return Err(Problem::new(format!(
            "the run stands at cycle {} already, after the cycle {until} of `--until`",
            checkpoint.cycle()
        ))
        .help("give a later time, or start the run anew"));
    }
    checkpoint.restore(simulation, wires)
}
