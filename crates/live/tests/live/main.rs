//! The loop against a host whose time is also simulated.

use std::collections::VecDeque;

use npsim_project::problem::Problem;
use npsim_transport::time::{MICROSECOND, MILLISECOND, SECOND, Time};

use npsim_live::clock::{HostTime, LiveClock};
use npsim_live::live_run::{Host, LiveEnding, LiveRun, WriteOutcome};
use npsim_live::system::{DepartingFrame, EnteredFrame, Halted, LiveSystem, PortCounts, Progress};

/// The time of a frame on the wire, and the gap between two.
const FRAME: Time = 10 * MICROSECOND;
/// From a frame's last bit in to its first bit out.
const INSIDE: Time = 30 * MICROSECOND;

/// A system that returns every frame by the next port.
#[derive(Default)]
struct Reflector {
    now: Time,
    entered: Vec<(usize, Time)>,
    inside: VecDeque<DepartingFrame>,
    departing: Vec<DepartingFrame>,
    /// Calls of `run_to`, with their lengths.
    runs: Vec<Time>,
    changed: Vec<String>,
}

impl LiveSystem for Reflector {
    fn ports(&self) -> Vec<String> {
        vec!["0".to_owned(), "1".to_owned()]
    }

    fn now(&self) -> Time {
        self.now
    }

    fn silent_until(&self) -> Time {
        self.inside
            .front()
            .map_or(Time::MAX, |frame| frame.due - FRAME)
    }

    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame {
        assert!(at >= self.now, "a frame enters in the past");
        self.entered.push((port, at));
        self.inside.push_back(DepartingFrame {
            due: at + FRAME + INSIDE + FRAME,
            port: 1 - port,
            bytes: bytes.to_vec(),
        });
        EnteredFrame {
            begins: at,
            line_free: at + FRAME,
        }
    }

    fn run_to(&mut self, until: Time, _progress: &Progress<'_>) -> Result<(), Halted> {
        assert!(until >= self.now, "time goes back");
        self.runs.push(until - self.now);
        self.now = until;
        while self
            .inside
            .front()
            .is_some_and(|frame| frame.due - FRAME < until)
        {
            self.departing.extend(self.inside.pop_front());
        }
        Ok(())
    }

    fn take_departing(&mut self) -> Vec<DepartingFrame> {
        std::mem::take(&mut self.departing)
    }

    fn counts(&self) -> Vec<PortCounts> {
        vec![PortCounts::default(); 2]
    }

    fn inside(&self, _name: &str) -> Result<Vec<String>, Problem> {
        Ok(Vec::new())
    }

    fn counters(&mut self, _name: &str) -> Result<String, Problem> {
        Ok(String::new())
    }

    fn change(&mut self, command: &str) -> Result<(String, Time), Problem> {
        self.changed.push(command.to_owned());
        Ok((command.to_owned(), self.now))
    }
}

/// A host that sends frames at given times, and on which each read of the clock takes a while.
struct Script {
    now: std::cell::Cell<HostTime>,
    look: HostTime,
    /// Arrival times of frames by port, in order.
    coming: [VecDeque<HostTime>; 2],
    /// Frames that the host has received: time and port.
    got: Vec<(HostTime, usize)>,
    /// The time until which the host accepts no frame.
    full_until: HostTime,
    /// The host's answer until then.
    refusal: WriteOutcome,
    /// Frames offered to the host, accepted or not.
    tries: usize,
    /// The time by which it waits longer than requested.
    oversleeps: HostTime,
    requests: VecDeque<String>,
    answers: Vec<Result<String, Problem>>,
}

impl Script {
    fn new(look: HostTime, coming: [Vec<HostTime>; 2]) -> Self {
        Self {
            now: 0.into(),
            look,
            coming: coming.map(VecDeque::from),
            got: Vec::new(),
            full_until: 0,
            refusal: WriteOutcome::Full,
            tries: 0,
            oversleeps: 0,
            requests: VecDeque::new(),
            answers: Vec::new(),
        }
    }

    fn next(&self, ports: &[bool]) -> Option<HostTime> {
        let read = self.coming.iter().zip(ports).filter(|(_, asked)| **asked);
        let read = read.filter_map(|(coming, _)| coming.front().copied());
        read.min()
    }
}

impl Host for Script {
    fn now(&self) -> HostTime {
        let now = self.now.get();
        self.now.set(now + self.look);
        now
    }

    fn read(&mut self, port: usize) -> Result<Option<&[u8]>, Problem> {
        let now = self.now.get();
        let came = self.coming[port].pop_front_if(|at| *at <= now);
        Ok(came.map(|_| &[0; 60][..]))
    }

    fn write(&mut self, port: usize, _frame: &[u8]) -> Result<WriteOutcome, Problem> {
        self.tries += 1;
        if self.now.get() < self.full_until {
            return Ok(self.refusal);
        }
        self.got.push((self.now.get(), port));
        Ok(WriteOutcome::Accepted)
    }

    fn wait(&mut self, ports: &[bool], most: HostTime) -> Result<bool, Problem> {
        let now = self.now.get();
        let next = self.next(ports).unwrap_or(HostTime::MAX);
        let woken = next.clamp(now, now.saturating_add(most));
        let late = if woken == now + most && most > 0 {
            self.oversleeps
        } else {
            0
        };
        self.now.set(woken + late);
        let now = self.now.get();
        let came = self.coming.iter().zip(ports);
        Ok({ came.into_iter() }
            .any(|(it, asked)| *asked && it.front().is_some_and(|at| *at <= now)))
    }

    fn request(&mut self) -> Option<String> {
        self.requests.pop_front()
    }

    fn answer(&mut self, text: Result<String, Problem>) {
        self.answers.push(text);
    }
}

const MS: HostTime = 1_000_000;

fn run(host: &mut Script, dilation: &str, until: HostTime) -> LiveRun<Reflector> {
    let clock = LiveClock::new(dilation.parse().unwrap(), 2 * MS);
    let names = vec!["a".to_owned(), "b".to_owned()];
    let mut live = LiveRun::new(Reflector::default(), clock, vec![0, 1], names, None);
    let ended = live.run(host, Some(until), &|| false, &mut |_, _, _| {});
    assert_eq!(ended, Ok(LiveEnding::Ended));
    live
}

#[test]
fn a_frame_leaves_when_it_is_due_and_never_before() {
    let mut host = Script::new(100, [vec![5 * MS], vec![]]);
    let live = run(&mut host, "1", 20 * MS);
    let (_, entered) = live.system().entered[0];
    let due = entered + FRAME + INSIDE + FRAME;
    let (got, port) = host.got[0];
    assert_eq!((host.got.len(), port), (1, 1));
    let due = due / 1_000;
    assert!(got >= due && got < due + 60_000, "due {due}, got {got}");
    assert!(
        entered / 1_000 >= 5 * MS && entered / 1_000 < 5 * MS + 1_000,
        "{entered}"
    );
}

#[test]
fn idle_system_runs_only_for_status_updates() {
    let mut host = Script::new(100, [vec![], vec![]]);
    let live = run(&mut host, "1", 10_000 * MS);
    assert!(live.system().runs.len() <= 11, "{:?}", live.system().runs);
    let late = live.status(host.now()).most_late_nanoseconds;
    assert!(late < 1_000, "{late}");
}

#[test]
fn burst_enters_at_line_rate_without_loss() {
    // A burst of 1000 frames at once takes 10 ms of line time.
    let mut host = Script::new(100, [vec![MS; 1000], vec![]]);
    let live = run(&mut host, "1", 30 * MS);
    let entered = &live.system().entered;
    assert_eq!(entered.len(), 1000);
    for pair in entered.windows(2) {
        assert!(pair[1].1 >= pair[0].1 + FRAME);
        assert!(
            pair[1].1 <= pair[0].1 + FRAME + 60 * MICROSECOND,
            "{pair:?}"
        );
    }
    assert_eq!(host.got.len(), 1000);
}

#[test]
fn slow_host_slips_simulated_time_without_loss() {
    // A read of the clock takes 5 ms, and each iteration of the loop reads it several times.
    let coming: Vec<_> = (0..200).map(|number| number * 3 * MS).collect();
    let mut host = Script::new(5 * MS, [coming.clone(), vec![]]);
    let live = run(&mut host, "1", 2_000 * MS);
    let status = live.status(host.now());
    assert!(status.slipped_nanoseconds > 100 * MS, "{status:?}");
    assert!(status.simulated_picoseconds < 2 * SECOND);
    assert_eq!(host.got.len(), 200);
    let mut host = Script::new(5 * MS, [coming, vec![]]);
    let live = run(&mut host, "auto", 2_000 * MS);
    assert!(live.status(0).dilation > 1.0);
}

#[test]
fn dilation_stretches_the_delay_seen_by_the_host() {
    let mut host = Script::new(100, [vec![5 * MS], vec![]]);
    run(&mut host, "20", 50 * MS);
    let took = host.got[0].0 - 5 * MS;
    let inside = (FRAME + INSIDE + FRAME) / 1_000 * 20;
    assert!((inside..inside + 2 * MS).contains(&took), "{took}");
}

#[test]
fn frames_refused_for_lack_of_room_are_retried_in_order() {
    let mut host = Script::new(100, [vec![MS, 2 * MS], vec![3 * MS]]);
    host.full_until = 10 * MS;
    run(&mut host, "1", 20 * MS);
    let ports: Vec<_> = host.got.iter().map(|(_, port)| *port).collect();
    assert_eq!(ports, [0, 1, 1]);
    assert!(host.got.iter().all(|(at, _)| *at >= 10 * MS));
    // Frames are offered again at growing intervals, not all the time.
    assert!(host.tries < 40, "{}", host.tries);
}

#[test]
fn undeliverable_frames_are_dropped_and_counted() {
    let mut host = Script::new(100, [vec![MS, 2 * MS, 15 * MS], vec![]]);
    (host.full_until, host.refusal) = (10 * MS, WriteOutcome::Lost);
    let live = run(&mut host, "1", 20 * MS);
    assert_eq!(host.got.len(), 1);
    assert_eq!(live.status(0).ports[1].lost_outside, 2);
}

#[test]
fn requests_change_the_system_and_end_the_run() {
    let mut host = Script::new(100, [vec![], vec![]]);
    host.requests = ["route remove 10.2.0.0/16", "status", "stop"]
        .map(str::to_owned)
        .into();
    let live = run(&mut host, "1", Time::MAX);
    assert_eq!(live.system().changed, ["route remove 10.2.0.0/16"]);
    let answers: Vec<_> = host.answers.iter().map(|it| it.as_ref().unwrap()).collect();
    assert!(
        answers[1].contains("\"simulated_picoseconds\""),
        "{answers:?}"
    );
    assert!(live.status(0).simulated_picoseconds < SECOND / 100 * 2 + MILLISECOND);
}

#[test]
fn late_wakeups_slip_simulated_time() {
    let mut host = Script::new(100, [vec![5 * MS], vec![]]);
    host.oversleeps = 100 * MS;
    let live = run(&mut host, "1", 3_000 * MS);
    let status = live.status(0);
    assert_eq!(host.got.len(), 1);
    assert!(status.slipped_nanoseconds >= 98 * MS, "{status:?}");
    assert!(status.most_late_nanoseconds >= 100 * MS, "{status:?}");
}

#[test]
fn run_ends_at_its_deadline_not_the_next_second() {
    let mut host = Script::new(100, [vec![], vec![]]);
    run(&mut host, "1", 500 * MS);
    assert!((500 * MS..501 * MS).contains(&host.now()), "{}", host.now());
}
