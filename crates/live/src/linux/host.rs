//! The host of a live run: its clock, its interfaces, and an operator's requests.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use npsim_project::problem::Problem;

use super::control::ControlSocket;
use super::wait::{Readiness, wait};
use super::{Attempt, Interface};
use crate::clock::HostTime;
use crate::live_run::{Host, PortInterest};

/// The host.
#[derive(Debug)]
pub struct LinuxHost {
    began: Instant,
    /// By port.
    interfaces: Vec<Interface>,
    control: Option<ControlSocket>,
}

impl LinuxHost {
    /// A host whose time begins now.
    #[must_use]
    pub fn new(interfaces: Vec<Interface>, control: Option<ControlSocket>) -> Self {
        Self {
            began: Instant::now(),
            interfaces,
            control,
        }
    }
}

impl Host for LinuxHost {
    fn now(&self) -> HostTime {
        HostTime::try_from(self.began.elapsed().as_nanos()).unwrap_or(HostTime::MAX)
    }

    fn read(&mut self, port: usize) -> Result<Option<Vec<u8>>, Problem> {
        let interface = &mut self.interfaces[port];
        match interface.read() {
            Ok(Attempt::Done(frame)) => Ok(Some(frame.clone())),
            Ok(Attempt::Later) => Ok(None),
            Err(error) => Err(vanished(interface, &error)),
        }
    }

    fn write(&mut self, port: usize, frame: &[u8]) -> Result<bool, Problem> {
        let interface = &self.interfaces[port];
        match interface.write(frame) {
            Ok(written) => Ok(written == Attempt::Done(())),
            Err(error) => Err(vanished(interface, &error)),
        }
    }

    fn wait(&mut self, ports: &[PortInterest], most: HostTime) -> Result<bool, Problem> {
        let own = { self.interfaces.iter().zip(ports) }.map(|(interface, interest)| {
            let wanted = Readiness {
                readable: interest.read,
                writable: interest.write,
            };
            (interface.as_fd(), wanted)
        });
        let readable = Readiness {
            readable: true,
            writable: false,
        };
        let operators = { self.control.iter() }
            .flat_map(ControlSocket::files)
            .map(|file| (file, readable));
        let files: Vec<_> = own.chain(operators).collect();
        let ready = wait(&files, Duration::from_nanos(most))
            .map_err(|error| Problem::new(format!("waiting for frames failed: {error}")))?;
        let asked = ready.get(ports.len()..).unwrap_or_default();
        if asked.iter().any(|it| it.readable)
            && let Some(control) = &mut self.control
        {
            control.receive();
        }
        let came = ready.iter().zip(ports);
        Ok(came
            .into_iter()
            .any(|(ready, interest)| ready.readable && interest.read))
    }

    fn check(&self) -> Result<(), Problem> {
        let gone = self.interfaces.iter().find(|it| !it.has_its_namespace());
        gone.map_or(Ok(()), |interface| {
            let error = std::io::Error::other("its network namespace was removed");
            Err(vanished(interface, &error))
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

fn vanished(interface: &Interface, error: &std::io::Error) -> Problem {
    let name = interface.name();
    Problem::new(format!("`{name}` is gone: {error}")).help(
        "the interface or its network namespace was removed while the run went on; what had come until then is recorded",
    )
}
