//! The whole chip with the smallest firmware: frames that arrive on a port leave by the same port.
//! The media interface's times and counts are checked from outside.

use std::collections::VecDeque;
use std::path::PathBuf;

use npsim_asm::{Includes, Options};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::Program;
use npsim_chip::gpp::boot::{BootPlan, PortSetup};
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_engine::ENGINE;
use npsim_inspect::stats::Stats;
use npsim_profile::Profile;

const GIGABIT: u64 = 1_000_000_000;

/// Start, end, port, bytes, frame.
/// Start, end, port, bytes, and the arrival with its end.
type Sent = (Cycle, Cycle, u8, Vec<u8>, Option<(u64, Cycle)>);

#[derive(Default)]
struct Links {
    arrivals: VecDeque<Arrival>,
    sent: Vec<Sent>,
    dropped: Vec<(u64, MediaDrop)>,
    /// The number of cycles after the first bit of a departing frame at which the outside may
    /// answer it, if it answers, and the cycle at which it may answer the first of those that are
    /// leaving.
    answers_after: Option<Cycle>,
    answer: Option<Cycle>,
}

impl PortIo for Links {
    fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn departing(&mut self, d: Departure<'_>) {
        let answer = self.answers_after.map(|after| d.start + after);
        self.answer = self.answer.into_iter().chain(answer).min();
    }

    fn answer_deadline(&self) -> Cycle {
        self.answer.unwrap_or(Cycle::MAX)
    }

    fn departed(&mut self, d: Departure<'_>) {
        self.sent.push((
            d.start,
            d.end,
            d.port,
            d.bytes.to_vec(),
            d.frame.zip(d.arrived),
        ));
    }

    fn dropped(&mut self, _: Cycle, _: u8, frame: Option<u64>, reason: MediaDrop) {
        self.dropped.push((frame.unwrap_or(u64::MAX), reason));
    }
}

/// Frames of 60 bytes, `gap` cycles from start to start, ports in turn.
fn links(count: u64, gap: Cycle, ports: u64) -> Links {
    let arrival = |frame: u64| Arrival {
        start: frame * gap,
        end: frame * gap + 346,
        port: (frame % ports) as u8,
        bytes: (0..60).map(|i| (i as u64 * 3 + frame) as u8).collect(),
        frame,
    };
    Links {
        arrivals: (0..count).map(arrival).collect(),
        ..Links::default()
    }
}

struct Microcode;

impl Includes for Microcode {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
        let found = ["tutorial", "lib"]
            .into_iter()
            .map(|folder| root.join(folder).join(name));
        for path in found {
            if let Ok(text) = std::fs::read_to_string(&path) {
                return Ok((path.display().to_string(), text));
            }
        }
        Err(format!("{name} is not in microcode"))
    }
}

fn chip(ports: usize, firmware: bool) -> Chip {
    let profile = Profile::load("ixp2400").unwrap();
    let boot = BootPlan {
        ports: vec![
            PortSetup {
                bits_per_second: GIGABIT
            };
            ports
        ],
        ..BootPlan::default()
    };
    let mut programs = Vec::new();
    if firmware {
        let assembly = npsim_asm::assemble("wire.uc", &Microcode, &Options::default());
        let image = assembly
            .image
            .unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        programs.push((0, Program::new(&image, &profile).unwrap()));
    }
    Chip::new(ENGINE, profile, &boot, programs).unwrap()
}

#[test]
fn frames_are_returned_unchanged_and_in_order() {
    let mut chip = chip(3, true);
    let mut links = links(90, 1200, 3);
    let offered: Vec<_> = links.arrivals.iter().cloned().collect();
    let stop = chip.run(Cycle::MAX, &mut links, &mut NoObserver);
    assert_eq!(stop, Stop::Quiet);
    assert_eq!(links.dropped, []);
    assert_eq!(links.sent.len(), 90);
    for (sent, arrival) in links.sent.iter().zip(&offered) {
        assert_eq!(
            (sent.2, &sent.3, sent.4),
            (
                arrival.port,
                &arrival.bytes,
                Some((arrival.frame, arrival.end))
            )
        );
        assert!(sent.0 > arrival.end, "a frame leaves after it has arrived");
        assert!(
            sent.0 < arrival.end + 2000,
            "{} cycles in the chip",
            sent.0 - arrival.end
        );
    }
    assert_eq!(chip.units().msf.leaks(), []);
    let stats = Stats::collect(&chip);
    assert_eq!(
        stats
            .ports
            .iter()
            .map(|p| p.sent_frames)
            .collect::<Vec<_>>(),
        [30, 30, 30]
    );
    assert_eq!(
        (
            stats.media.rbuf_handed,
            stats.media.rbuf_freed,
            stats.media.tbuf_sent
        ),
        (90, 90, 90)
    );
    assert_eq!(stats.media.drops, []);
    assert!(stats.microengines[0].instructions > 90 * 20);
}

#[test]
fn excess_traffic_is_dropped_only_at_the_receive_fifo() {
    let mut chip = chip(3, true);
    // Each port at line rate, more than one context can forward.
    let mut links = links(3000, 135, 3);
    assert_eq!(
        chip.run(Cycle::MAX, &mut links, &mut NoObserver),
        Stop::Quiet
    );
    let stats = Stats::collect(&chip);
    let lost: u64 = stats.ports.iter().map(|p| p.overflow_frames).sum();
    assert!(lost > 1000, "{lost}");
    assert_eq!(lost, links.dropped.len() as u64);
    assert!(
        links
            .dropped
            .iter()
            .all(|d| d.1 == MediaDrop::ReceiveFifoFull)
    );
    assert_eq!(links.sent.len() as u64 + lost, 3000);
    for port in &stats.ports {
        assert_eq!(
            port.received_frames,
            port.delivered_frames + port.overflow_frames + port.waiting_frames
        );
        assert_eq!(port.waiting_frames, 0);
    }
    assert_eq!(stats.media.rbuf_free_lowest, 0);
    assert_eq!(stats.media.drops[0].frames, lost);
}

#[test]
fn running_in_steps_gives_the_same_traffic() {
    let whole = {
        let mut links = links(200, 300, 2);
        chip(2, true).run(Cycle::MAX, &mut links, &mut NoObserver);
        links.sent
    };
    let mut chip = chip(2, true);
    let mut links = links(200, 300, 2);
    let mut until = 0;
    loop {
        until += 777;
        match chip.run(until, &mut links, &mut NoObserver) {
            Stop::Reached => {}
            stop => {
                assert_eq!(stop, Stop::Quiet);
                break;
            }
        }
    }
    assert_eq!(links.sent, whole);
}

/// The cycles of the events, in the order in which they were seen.
#[derive(Default)]
struct Cycles(Vec<Cycle>);

impl Observer for Cycles {
    fn see(&mut self, at: Cycle, _: &TraceEvent) {
        self.0.push(at);
    }
}

/// The end of the run moves closer while it runs, and events booked after it reach observers when
/// their time has come.
#[test]
fn events_stay_in_order_when_an_answer_ends_the_run() {
    for answers_after in (10..400).step_by(10) {
        let mut chip = chip(2, true);
        let mut links = links(40, 300, 2);
        links.answers_after = Some(answers_after);
        let mut told = Cycles::default();
        let mut answers = 0;
        loop {
            let stop = chip.run(1 << 20, &mut links, &mut told);
            if stop != Stop::Reached {
                assert_eq!(stop, Stop::Quiet);
                break;
            }
            assert_eq!(Some(chip.now()), links.answer.take());
            answers += 1;
        }
        assert_eq!(links.sent.len(), 40);
        assert!(answers >= 20, "{answers}");
        assert!(told.0.is_sorted(), "answers after {answers_after} cycles");
    }
}

#[test]
fn without_firmware_frames_fill_rbuf_and_fifos() {
    let mut chip = chip(1, false);
    let mut links = links(300, 404, 1);
    assert_eq!(
        chip.run(Cycle::MAX, &mut links, &mut NoObserver),
        Stop::Quiet
    );
    let port = &Stats::collect(&chip).ports[0];
    assert_eq!(
        (
            port.delivered_frames,
            port.waiting_frames,
            port.overflow_frames
        ),
        (124, 68, 108)
    );
    assert_eq!(Stats::collect(&chip).media.rbuf_free, 0);
}
