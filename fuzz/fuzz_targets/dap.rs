//! The debug adapter: whatever a client sends, it exits at the end of the stream.

#![no_main]

use std::io::{Cursor, sink};
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use npsim::debug::Debugger;
use npsim::debug::timeline::{NoDebug, Setup};
use npsim::simulation::Simulation;
use npsim_cli::dap::Server;
use npsim_fuzz::conversation::{Protocol, stream};
use npsim_fuzz::forwarder;

/// Bytes for past states.
const BUDGET: usize = 64_000_000;

const BEGIN: [&str; 3] = ["initialize {}", "launch {}", "configurationDone {}"];

fn debugger() -> Debugger {
    let (system, settings) = (forwarder::system(), forwarder::settings());
    let setup = Setup {
        until: settings.until,
        simulation: Simulation::new(system.project(), system.programs(), settings)
            .expect("it runs"),
        frames: NoDebug(forwarder::frames()),
        hertz: system.project().capacity.hertz,
        budget: BUDGET,
    };
    Debugger::new(setup, system.project(), &[]).expect("a debugger")
}

fuzz_target!(|input: &[u8]| {
    let (begin, input) = match input.strip_prefix(b"!") {
        Some(rest) => (&BEGIN[..0], rest),
        None => (&BEGIN[..], input),
    };
    let stream = stream(Protocol::Debug, begin, input);
    let mut server = Server::new(Cursor::new(stream), sink());
    match server.launch() {
        Ok(Some(launch)) => {
            if let Err(error) = server.debug(&launch, debugger(), Path::new("forward")) {
                assert!(!error.to_string().is_empty());
            }
        }
        Ok(None) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
