//! The main loop of a live run: frames from the host enter a simulated system, and those that leave it are
//! sent to the host when they are due.
//!
//! The system is simulated lazily, never ahead of its clock: up to the present, when something may have
//! happened by then. While frames are inside, it runs in short steps; when none has arrived or left for a
//! while, the steps grow. A late departure is then late by a fraction of the time since the last frame, and
//! an idle chip gets stretches long enough for the simulator to detect and skip recurring states. If the
//! system reports until when it is silent, nothing runs before that time.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use npsim_net::recording::RecordingWriter;
use npsim_project::atomic_file::same_file;
use npsim_project::problem::Problem;
use npsim_session::histogram::Histogram;
use npsim_transport::time::{MICROSECOND, Time};

use crate::clock::{HostTime, LiveClock};
use crate::port_lines::PortLines;
use crate::requests::{REQUESTS, Request};
use crate::status::{LiveStatus, PortStatus};
use crate::system::{DepartingFrame, Halted, LiveSystem};

/// The shortest and the longest step of a system that may be busy, in simulated time.
const STEPS: [Time; 2] = [50 * MICROSECOND, 10_000 * MICROSECOND];
/// The interval between status reports, in nanoseconds of host time.
const STATUS_EVERY: HostTime = 1_000_000_000;
/// The interval between redraws of a screen, in nanoseconds of host time.
const PICTURE_EVERY: HostTime = 250_000_000;

/// The outcome of passing a frame to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The host has accepted the frame.
    Accepted,
    /// There is currently no room for it.
    Full,
    /// The frame is lost: the interface is down, or does not accept frames of that length.
    Lost,
}

/// The host: a clock, and numbered interfaces.
pub trait Host {
    /// Nanoseconds since the run began, never decreasing.
    fn now(&self) -> HostTime;

    /// Reads a frame that has arrived at a port, if there is one.
    ///
    /// # Errors
    /// Returns an error if the interface has vanished.
    fn read(&mut self, port: usize) -> Result<Option<&[u8]>, Problem>;

    /// Sends a frame to the host.
    ///
    /// # Errors
    /// Returns an error if the interface has vanished.
    fn write(&mut self, port: usize, frame: &[u8]) -> Result<WriteOutcome, Problem>;

    /// Waits until a frame can be read at one of the selected ports, a request or a signal has arrived, or
    /// `most` nanoseconds have passed. Returns whether there is a frame or a request.
    ///
    /// # Errors
    /// Returns an error if the host cannot wait.
    fn wait(&mut self, ports: &[bool], most: HostTime) -> Result<bool, Problem>;

    /// Checks, once a second, that all interfaces are still in place.
    ///
    /// # Errors
    /// Returns an error if one of them is not.
    fn check(&self) -> Result<(), Problem> {
        Ok(())
    }

    /// The next request of an operator, if there is one.
    fn request(&mut self) -> Option<String> {
        None
    }

    /// Sends the answer to the last request.
    fn answer(&mut self, _text: Result<String, Problem>) {}
}

/// The reason why a live run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEnding {
    /// Its time was up, or an operator stopped it.
    Ended,
    /// A signal interrupted it.
    Interrupted,
    /// The microcode violated a check.
    Fault,
}

/// Receives a report once a second: the current status, the previous one, and the largest lateness in
/// between.
pub type Report<'a> = dyn FnMut(&LiveStatus, &LiveStatus, HostTime) + 'a;

/// A screen that shows a run several times a second, and from which it can be ended.
pub trait Screen<S> {
    /// Shows the status of the run. `late` is the largest lateness of the last whole second.
    ///
    /// # Errors
    /// Returns an error if it cannot be shown.
    fn show(
        &mut self,
        system: &mut S,
        status: &LiveStatus,
        late: HostTime,
    ) -> Result<ControlFlow<LiveEnding>, Problem>;
}

/// A live run.
pub struct LiveRun<S> {
    system: S,
    clock: LiveClock,
    /// The system's port at each interface; interfaces are numbered as in the [`Host`].
    ports: Vec<usize>,
    lines: PortLines,
    /// By interface, the simulated time until which no frame had arrived.
    none_until: Vec<Time>,
    recorder: Option<RecordingWriter>,
    interfaces: Vec<String>,
    late: Histogram,
    /// By interface, the number of departed frames that it could not accept.
    lost_outside: Vec<u64>,
    /// The simulated time that the loop waited for.
    awaited: Option<Time>,
    stop_asked: bool,
    /// Files that no request may overwrite, and their descriptions.
    kept: Vec<(PathBuf, &'static str)>,
    screen: Option<Box<dyn Screen<S>>>,
}

impl<S: LiveSystem> LiveRun<S> {
    /// A run that has not begun. `ports` are the ports of the system that are joined to the host's
    /// interfaces, and `interfaces` the names of the latter.
    #[must_use]
    pub fn new(
        system: S,
        clock: LiveClock,
        ports: Vec<usize>,
        interfaces: Vec<String>,
        recorder: Option<RecordingWriter>,
    ) -> Self {
        let count = interfaces.len();
        Self {
            system,
            clock,
            ports,
            lines: PortLines::new(count),
            none_until: vec![0; count],
            recorder,
            interfaces,
            late: Histogram::default(),
            lost_outside: vec![0; count],
            awaited: None,
            stop_asked: false,
            kept: Vec::new(),
            screen: None,
        }
    }

    /// Protects these files, given with their descriptions, from being overwritten by requests.
    pub fn protect(&mut self, files: impl IntoIterator<Item = (PathBuf, &'static str)>) {
        self.kept.extend(files);
    }

    /// Shows the run on a screen while it is in progress.
    pub fn set_screen(&mut self, screen: Box<dyn Screen<S>>) {
        self.screen = Some(screen);
    }

    /// The status at a host time.
    #[must_use]
    pub fn status(&self, host: HostTime) -> LiveStatus {
        let (names, counts) = (self.system.ports(), self.system.counts());
        let interfaces = self
            .ports
            .iter()
            .zip(&self.interfaces)
            .zip(&self.lost_outside);
        let ports = interfaces.map(|((&port, interface), &lost_outside)| PortStatus {
            port: names[port].clone(),
            interface: interface.clone(),
            counts: counts[port],
            lost_outside,
        });
        let ports = ports.collect();
        LiveStatus::of((host, self.system.now()), &self.clock, &self.late, ports)
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &S {
        &self.system
    }

    /// Returns the system, at the end of the run.
    #[must_use]
    pub fn into_system(self) -> S {
        self.system
    }

    /// Runs until a host time, a signal (`stop`), a request, or a fault.
    ///
    /// # Errors
    /// Returns an error if an interface has vanished, or the recording cannot be written; everything that
    /// arrived before is recorded.
    pub fn run(
        &mut self,
        host: &mut dyn Host,
        until: Option<HostTime>,
        stop: &(dyn Fn() -> bool + Sync),
        report: &mut Report<'_>,
    ) -> Result<LiveEnding, Problem> {
        let mut ran = self.run_loop(host, until, stop, report);
        if matches!(ran, Ok(LiveEnding::Ended | LiveEnding::Interrupted)) {
            if self.catch_up(host).is_err() {
                ran = Ok(LiveEnding::Fault);
            }
            self.deliver_due_frames(host)?;
        }
        // A fault occurs before the time to which the system was to run.
        let end = match ran {
            Ok(LiveEnding::Fault) => self.clock.simulated(host.now()),
            _ => 0,
        };
        let end = end.max(self.system.now());
        let recorded = self.recorder.as_mut().map_or(Ok(()), |it| it.end(end));
        let ending = ran?;
        recorded.map_err(|error| recording_error(&error))?;
        Ok(ending)
    }

    fn run_loop(
        &mut self,
        host: &mut dyn Host,
        until: Option<HostTime>,
        stop: &(dyn Fn() -> bool + Sync),
        report: &mut Report<'_>,
    ) -> Result<LiveEnding, Problem> {
        let mut step = STEPS[0];
        let mut before = self.status(host.now());
        let mut status_at = STATUS_EVERY;
        let mut picture_at = self.screen.as_ref().map_or(HostTime::MAX, |_| 0);
        let mut late = 0;
        loop {
            let now = host.now();
            if stop() {
                return Ok(LiveEnding::Interrupted);
            }
            if until.is_some_and(|until| now >= until) {
                return Ok(LiveEnding::Ended);
            }
            // A host that woke up late counts as lateness, like a slow simulator.
            let awaited = self.awaited.take().filter(|it| self.clock.host(*it) <= now);
            if let Some(awaited) = awaited {
                self.clock.advance_to(awaited, now);
            }
            let target = self.clock.simulated(now);
            let came = self.read_arrivals(host, target)?;
            let asks = now >= status_at;
            let shows = now >= picture_at;
            let runs = came || asks || shows || self.system.silent_until() <= target;
            if runs {
                let progress = &|| {
                    if stop() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                match self.system.run_to(target, progress) {
                    Ok(()) => {}
                    Err(Halted::Interrupted) => return Ok(LiveEnding::Interrupted),
                    Err(Halted::Fault) => return Ok(LiveEnding::Fault),
                }
                self.queue_departures();
            }
            self.lines.advance_to(target);
            let left = self.deliver_due_frames(host)?;
            if runs || left {
                self.clock.advance_to(target, host.now());
            }
            while let Some(request) = host.request() {
                let answer = self.handle_request(&request, host);
                host.answer(answer);
            }
            if asks {
                host.check()?;
                self.flush()?;
                let status = self.status(host.now());
                late = self.clock.take_lateness();
                report(&status, &before, late);
                before = status;
                status_at = now - now % STATUS_EVERY + STATUS_EVERY;
            }
            if shows {
                picture_at = now - now % PICTURE_EVERY + PICTURE_EVERY;
                if let ControlFlow::Break(ending) = self.show(host.now(), late)? {
                    return Ok(ending);
                }
            }
            step = if came || left {
                STEPS[0]
            } else {
                (step * 2).min(STEPS[1])
            };
            if self.stop_asked {
                return Ok(LiveEnding::Ended);
            }
            let wake_at = status_at.min(picture_at);
            let wake_at = until.map_or(wake_at, |until| until.min(wake_at));
            self.wait_for_work(host, target, step, wake_at)?;
        }
    }

    fn show(&mut self, host: HostTime, late: HostTime) -> Result<ControlFlow<LiveEnding>, Problem> {
        let status = self.status(host);
        let Some(screen) = &mut self.screen else {
            return Ok(ControlFlow::Continue(()));
        };
        screen.show(&mut self.system, &status, late)
    }

    /// Reads the frames that have arrived at ports whose lines are free until a time. A frame begins at the
    /// earliest time at which it may have arrived.
    fn read_arrivals(&mut self, host: &mut dyn Host, until: Time) -> Result<bool, Problem> {
        let mut came = false;
        for port in 0..self.none_until.len() {
            while self.lines.is_free(port, until) {
                let Some(bytes) = host.read(port)? else {
                    self.none_until[port] = until;
                    break;
                };
                came = true;
                let at = self.none_until[port].max(self.lines.free_at(port));
                let at = at.max(self.system.now());
                let entered = self.system.enter(self.ports[port], at, bytes);
                self.lines.entered(port, entered);
                if let Some(recorder) = &mut self.recorder {
                    let written = recorder.frame(self.ports[port] as u32, entered.begins, bytes);
                    written.map_err(|error| recording_error(&error))?;
                }
            }
        }
        Ok(came)
    }

    /// Sends the frames that are due to the host; returns whether there were any.
    fn deliver_due_frames(&mut self, host: &mut dyn Host) -> Result<bool, Problem> {
        let mut left = false;
        for port in 0..self.none_until.len() {
            while let Some((due, bytes)) = self.lines.front(port) {
                match host.write(port, bytes)? {
                    WriteOutcome::Full => break,
                    WriteOutcome::Lost => self.lost_outside[port] += 1,
                    WriteOutcome::Accepted => {
                        let late = host.now().saturating_sub(self.clock.host(*due));
                        self.late.add(late);
                    }
                }
                self.lines.taken(port);
                left = true;
            }
        }
        Ok(left)
    }

    /// Waits until there may be something to do.
    fn wait_for_work(
        &mut self,
        host: &mut dyn Host,
        come: Time,
        step: Time,
        wake_at: HostTime,
    ) -> Result<(), Problem> {
        let silent = self.system.silent_until();
        let step = come.saturating_add(step);
        // A host without room is polled: it may report room and still accept no frame.
        let next = if silent > come && !self.lines.any_due() {
            silent
        } else {
            step
        };
        let others = [self.lines.next_due(), self.lines.next_free(come)];
        let next = others.into_iter().flatten().fold(next, Time::min);
        let wake = self.clock.host(next).min(wake_at);
        let ports: Vec<_> = (0..self.none_until.len())
            .map(|port| self.lines.is_free(port, come))
            .collect();
        let most = wake.saturating_sub(host.now());
        // A frame that can be read at once may have arrived at any time since the last read.
        if host.wait(&ports, 0)? || most == 0 {
            return Ok(());
        }
        host.wait(&ports, most)?;
        self.awaited = Some(next);
        let now = self.clock.simulated(host.now());
        for (none_until, asked) in self.none_until.iter_mut().zip(&ports) {
            if *asked {
                *none_until = now;
            }
        }
        Ok(())
    }

    /// Executes a request of an operator.
    fn handle_request(&mut self, request: &str, host: &mut dyn Host) -> Result<String, Problem> {
        // Requests show and change the present state; a fault ends the run at its next step.
        let _ = self.catch_up(host);
        match Request::of(request)? {
            Request::Status => {
                let status = serde_json::to_string_pretty(&self.status(host.now()));
                status.map_err(|error| Problem::new(error.to_string()))
            }
            Request::Help => Ok(REQUESTS.to_owned()),
            Request::Inside(name) => Ok(self.system.inside(&name)?.join("\n")),
            Request::Counters(name) => self.system.counters(&name),
            Request::Start(kind, file) => {
                if let Some((_, what)) = self.kept.iter().find(|it| same_file(&it.0, &file)) {
                    let file = file.display();
                    return Err(Problem::new(format!("`{file}` would overwrite {what}"))
                        .help("give another name"));
                }
                self.system.observe(kind, &file)
            }
            Request::End(kind) => self.system.end_observation(kind),
            Request::Checkpoint(file) => Err(self.checkpoint_refusal(&file)),
            Request::Stop => {
                self.stop_asked = true;
                Ok("the run ends".to_owned())
            }
            Request::Change(request) => {
                let (command, at) = self.system.change(&request)?;
                if let Some(recorder) = &mut self.recorder {
                    let written = recorder.control(at, &command);
                    written.map_err(|error| recording_error(&error))?;
                }
                Ok(command)
            }
        }
    }

    /// The error for a checkpoint request in a live run, with an alternative.
    fn checkpoint_refusal(&self, file: &Path) -> Problem {
        let problem = Problem::new(
            "a checkpoint contains the traffic that its run goes on with, and what real hosts will send is not known",
        );
        if self.recorder.is_none() {
            return problem.help("begin the run with `--record FILE`; a run of the recording can be saved at any time");
        }
        problem.help(match self.system.checkpoint_command(file) {
            Some(command) => format!(
                "once this run is over: `{command}` saves this moment, and `npsim debug` goes to it"
            ),
            None => format!(
                "a recording of a network has no checkpoints either: `npsim network TARGET --recorded RECORDING --until {}ps` runs to this moment",
                self.system.now()
            ),
        })
    }

    /// Runs a system that had nothing to do up to the present. The time this takes counts as lateness; else
    /// a slow simulator would have to make up for it in its next step, and several requests in a row would
    /// take ever longer.
    fn catch_up(&mut self, host: &mut dyn Host) -> Result<(), Halted> {
        let target = self.clock.simulated(host.now()).max(self.system.now());
        let ran = self.system.run_to(target, &|| ControlFlow::Continue(()));
        self.queue_departures();
        self.lines.advance_to(target);
        self.clock.advance_to(target, host.now());
        ran
    }

    /// Queues the frames that have begun to leave until they are due. A frame that leaves at an unconnected
    /// port is discarded.
    fn queue_departures(&mut self) {
        let departing = self.system.take_departing().into_iter();
        let ports = &self.ports;
        self.lines.queue_departing(departing.filter_map(|frame| {
            let port = ports.iter().position(|port| *port == frame.port)?;
            Some(DepartingFrame { port, ..frame })
        }));
    }

    fn flush(&mut self) -> Result<(), Problem> {
        let flushed = self
            .recorder
            .as_mut()
            .map_or(Ok(()), RecordingWriter::flush);
        flushed.map_err(|error| recording_error(&error))
    }
}

fn recording_error(error: &io::Error) -> Problem {
    Problem::new(format!("the recording cannot be written: {error}"))
        .help("what is in it is intact and ends about a second before; free space on the disk, or record to another one")
}
