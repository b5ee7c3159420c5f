//! The host of a live run: its clock, its interfaces, and the requests of an operator.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use npsim_project::problem::Problem;

use super::Interface;
use super::control::ControlSocket;
use super::wait::wait;
use crate::clock::HostTime;
use crate::live_run::{Host, WriteOutcome};
use crate::port_option::InterfaceName;

/// A Linux host.
#[derive(Debug)]
pub struct LinuxHost {
    began: Instant,
    /// The interfaces, by port.
    interfaces: Vec<Interface>,
    control: Option<ControlSocket>,
    warn: fn(&str),
    /// By port, whether a warning about refused segments has been given.
    warned: Vec<bool>,
}

impl LinuxHost {
    /// A host whose time begins now. Urgent messages for the operator are passed to `warn`.
    #[must_use]
    pub fn new(interfaces: Vec<Interface>, control: Option<ControlSocket>, warn: fn(&str)) -> Self {
        Self {
            began: Instant::now(),
            warned: vec![false; interfaces.len()],
            interfaces,
            control,
            warn,
        }
    }
}

impl Host for LinuxHost {
    fn now(&self) -> HostTime {
        HostTime::try_from(self.began.elapsed().as_nanos()).unwrap_or(HostTime::MAX)
    }

    fn read(&mut self, port: usize) -> Result<Option<&[u8]>, Problem> {
        let interface = &mut self.interfaces[port];
        let (name, refused) = (interface.name().clone(), interface.refused());
        // The frame read is still borrowed, so the count is checked at the next read.
        if refused > 0 && !std::mem::replace(&mut self.warned[port], true) {
            (self.warn)(&format!(
                "note: `{name}` delivers segments that cannot be cut into frames and are lost; at the other end `ethtool -K NAME tso off gso off` makes the sender cut them"
            ));
        }
        interface.read().map_err(|error| vanished(&name, &error))
    }

    fn write(&mut self, port: usize, frame: &[u8]) -> Result<WriteOutcome, Problem> {
        let interface = &self.interfaces[port];
        let written = interface.write(frame);
        written.map_err(|error| vanished(interface.name(), &error))
    }

    fn wait(&mut self, ports: &[bool], most: HostTime) -> Result<bool, Problem> {
        let asked = self
            .interfaces
            .iter()
            .zip(ports)
            .filter(|(_, asked)| **asked);
        let asked: Vec<_> = asked.map(|(interface, _)| interface).collect();
        let there = asked.iter().any(|interface| interface.has_frames());
        let most = if there { 0 } else { most };
        let mut files: Vec<_> = asked.iter().map(|interface| interface.as_fd()).collect();
        let interfaces = files.len();
        files.extend(self.control.iter().flat_map(ControlSocket::files));
        let ready = wait(&files, Duration::from_nanos(most))
            .map_err(|error| Problem::new(format!("waiting for frames failed: {error}")))?;
        if ready[interfaces..].contains(&true)
            && let Some(control) = &mut self.control
        {
            control.receive();
        }
        Ok(there || ready.contains(&true))
    }

    fn check(&self) -> Result<(), Problem> {
        let gone = self.interfaces.iter().find(|it| !it.still_exists());
        gone.map_or(Ok(()), |interface| {
            let error = std::io::Error::other("it or its network namespace was removed");
            Err(vanished(interface.name(), &error))
        })
    }

    fn request(&mut self) -> Option<String> {
        self.control.as_mut()?.next_request()
    }

    fn answer(&mut self, text: Result<String, Problem>) {
        if let Some(control) = &mut self.control {
            control.answer(&text);
        }
    }
}

fn vanished(name: &InterfaceName, error: &std::io::Error) -> Problem {
    Problem::new(format!("`{name}` is gone: {error}")).help(
        "the interface or its network namespace was removed while the run went on; what had come until then is recorded",
    )
}
