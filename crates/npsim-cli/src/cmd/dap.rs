//! `npsim dap`: the debug adapter.

use std::io::{BufReader, stdin, stdout};
use std::net::TcpListener;
use std::process::ExitCode;

use crate::dap::{Launch, Server};
use anyhow::Context as _;
use clap::{Args, Parser};
use npsim::asm::spelling::closest;
use npsim::diagnostics::render_problem;
use npsim::problem::{Problem, Problems};
use serde_json::Value;

use super::debug::Arguments as Debugged;
use super::debug::opened::with_debugger;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim dap                               started by the editor (editors/README.md)
  npsim dap --listen 127.0.0.1:4711       for clients that connect, one after the other";

/// Serve an editor's debugger (Debug Adapter Protocol), over standard input and output
///
/// The launch request gives a target (`program`) and options of `npsim debug`: `load`,
/// `rate`, `size`, `time`, `trace`, `until`, `memory`, and others in `args`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Listen for clients on this local address, such as `127.0.0.1:4711`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(address) = &arguments.listen else {
        let server = Server::new(BufReader::new(stdin()), stdout());
        serve(server)?;
        return Ok(ExitCode::SUCCESS);
    };
    let listener =
        TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))?;
    output::line(&format!("listening at {}", listener.local_addr()?));
    loop {
        let (stream, _) = listener.accept()?;
        let server = Server::new(BufReader::new(stream.try_clone()?), stream);
        // The server keeps running when a client disconnects unexpectedly.
        if let Err(error) = serve(server) {
            output::line(&format!("the client's connection broke: {error:#}"));
        }
    }
}

fn serve(mut server: Server) -> anyhow::Result<()> {
    let Some(launch) = server.launch()? else {
        return Ok(());
    };
    let debugged = match words(&launch) {
        Ok(words) => LaunchLine::try_parse_from(words).map_err(|error| error.to_string()),
        Err(message) => Err(message),
    };
    let debugged = match debugged {
        Ok(line) => line.debugged,
        Err(message) => {
            server.refuse_launch(&launch, &message)?;
            return Ok(());
        }
    };
    let (target, memory) = debugged.target();
    let mut io = Ok(());
    let made = with_debugger(&debugged.system, target, memory, |debugger| {
        io = server.debug(&launch, debugger, target);
        Ok(())
    });
    io?;
    match made {
        Ok(Some(())) => {}
        Ok(None) => server.refuse_launch(
            &launch,
            "the microcode has errors; standard error and the editor's problems have them",
        )?,
        Err(error) => server.refuse_launch(&launch, &message(&error))?,
    }
    Ok(())
}

/// The command line that a launch request stands for.
#[derive(Parser)]
#[command(name = "launch", no_binary_name = true)]
struct LaunchLine {
    #[command(flatten)]
    debugged: Debugged,
}

/// The options that have keys of their own in launch configurations.
const OPTION_KEYS: [&str; 10] = [
    "load", "rate", "size", "time", "trace", "until", "pace", "seed", "memory", "me",
];

/// The other keys of launch configurations.
const OTHER_KEYS: [&str; 4] = ["program", "args", "cwd", "stopOnEntry"];

/// Keys that editors add to launch configurations for their own use.
const EDITOR_KEYS: [&str; 20] = [
    "type",
    "request",
    "name",
    "noDebug",
    "console",
    "env",
    "internalConsoleOptions",
    "preLaunchTask",
    "postDebugTask",
    "presentation",
    "debugServer",
    "serverReadyAction",
    "suppressMultipleSessionWarning",
    "suppressDebugToolbar",
    "suppressDebugStatusbar",
    "suppressDebugView",
    "windows",
    "linux",
    "osx",
    "restart",
];

/// The message for an unknown key in a launch configuration.
fn unknown(key: &str) -> String {
    let known = || OPTION_KEYS.into_iter().chain(OTHER_KEYS);
    let remedy = match closest(key, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "it can have {}; give other options of `npsim debug` in `args`",
            known().collect::<Vec<_>>().join(", ")
        ),
    };
    format!("a launch configuration has no `{key}`; {remedy}")
}

fn words(launch: &Launch) -> Result<Vec<String>, String> {
    let given = &launch.arguments;
    let is_known = |key: &str| {
        let own = [&OPTION_KEYS[..], &OTHER_KEYS, &EDITOR_KEYS]
            .concat()
            .contains(&key);
        own || key.starts_with("__")
    };
    if let Some(key) = given.keys().find(|key| !is_known(key)) {
        return Err(unknown(key));
    }
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let program = given.get("program").and_then(Value::as_str);
    let program = program.ok_or(
        "the launch configuration names no `program`: a project's folder, its file, or a `.uc`",
    )?;
    if given.get("stopOnEntry").is_some_and(|it| !it.is_boolean()) {
        return Err("`stopOnEntry` must be true or false".to_owned());
    }
    let mut words = Vec::new();
    for name in OPTION_KEYS {
        if let Some(value) = given.get(name) {
            let value =
                text(value).ok_or_else(|| format!("`{name}` is neither a text nor a number"))?;
            words.push(format!("--{name}={value}"));
        }
    }
    let list = || "`args` must be a list of words such as [\"--trace\", \"in.pcap\"]".to_owned();
    if let Some(more) = given.get("args") {
        for word in more.as_array().ok_or_else(list)? {
            words.push(text(word).ok_or_else(list)?);
        }
    }
    words.extend(["--".to_owned(), program.to_owned()]);
    Ok(words)
}

/// An error in the form in which it is printed to standard error, without styles.
fn message(error: &anyhow::Error) -> String {
    let text = rendered(error);
    anstream::adapter::strip_str(&text).to_string()
}

fn rendered(error: &anyhow::Error) -> String {
    if let Some(problems) = error.downcast_ref::<Problems>() {
        let shown = problems.shown();
        let texts: Vec<_> = shown.map(|problem| render_problem(&problem)).collect();
        texts.join("\n")
    } else if let Some(problem) = error.downcast_ref::<Problem>() {
        render_problem(problem)
    } else {
        format!("{error:#}")
    }
}
