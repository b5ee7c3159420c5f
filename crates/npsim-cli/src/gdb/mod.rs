//! `npsim debug --gdb`: debugs the core's program with gdb, over TCP and its remote protocol.

mod arch;
mod target;

use std::io;
use std::net::{TcpListener, TcpStream};

use anyhow::Context as _;
use gdbstub::common::Signal;
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{GdbStub, SingleThreadStopReason};
use npsim::problem::Problem;
use npsim_debug::Debugger;

use crate::output;
use target::{CoreTarget, Source};

/// The address given to `--gdb`; a port alone means this machine.
fn address(text: &str) -> String {
    match text.strip_prefix(':') {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    }
}

/// Waits for gdb and serves it until it disconnects.
pub fn serve(mut debugger: Debugger, at: &str, sources: Box<Source>) -> anyhow::Result<()> {
    if debugger.core().is_none() {
        return Err(
            Problem::new("the core runs no program that gdb could debug")
                .help("give the project one: `program = \"slow.elf\"` in [gpp]")
                .into(),
        );
    }
    let at = address(at);
    let listener = TcpListener::bind(&at).with_context(|| format!("cannot listen at {at}"))?;
    output::line(&format!("listening at {}", listener.local_addr()?));
    let (stream, _) = listener.accept()?;
    // Further connections are refused.
    drop(listener);
    stream.set_nodelay(true)?;
    // A byte received during the run is an interrupt.
    let mut other = stream.try_clone()?;
    debugger.set_interrupt_check(move |_| {
        ConnectionExt::peek(&mut other).map_or(true, |byte| byte.is_some())
    });
    let target = CoreTarget::new(debugger, sources);
    let mut target = target.map_err(|error| Problem::new(error.to_string()))?;
    match GdbStub::new(stream).run_blocking::<EventLoop>(&mut target) {
        Ok(_) => Ok(()),
        Err(error) if error.is_connection_error() => {
            output::line("the connection ended before gdb sent anything");
            Ok(())
        }
        Err(error) => Err(Problem::new(format!(
            "the client does not speak the protocol of gdb: {error}"
        ))
        .help("connect only gdb, by `target remote`")
        .into()),
    }
}

enum EventLoop {}

impl BlockingEventLoop for EventLoop {
    type Target = CoreTarget;
    type Connection = TcpStream;
    type StopReason = SingleThreadStopReason<u32>;

    fn wait_for_stop_reason(
        target: &mut CoreTarget,
        connection: &mut TcpStream,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<&'static str, io::Error>> {
        if let Some(reason) = target.run_until_stop() {
            return Ok(Event::TargetStopped(reason));
        }
        let byte = ConnectionExt::read(connection);
        byte.map(Event::IncomingData)
            .map_err(WaitForStopReasonError::Connection)
    }

    fn on_interrupt(_target: &mut CoreTarget) -> Result<Option<Self::StopReason>, &'static str> {
        Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT)))
    }
}
