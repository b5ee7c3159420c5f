//! Quick-Start in the whole router: the grants in departing frames equal those counted, window by
//! window.

use npsim::project::Overrides;
use npsim_chip::Cycle;
use npsim_chip::chip::Stop;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_net::load::{Arrivals, Generator, Load, Special};

use super::bench::{Loaded, NO_LOCK, ensure, load};
use super::grants::units;
use super::quick_start::{TORN, mix};
use npsim_testkit::microcode::Edit;

const PICO: u128 = 1_000_000_000_000;

/// Cycles of a window; of the time until its grants are exact.
const WINDOW: Cycle = 40_000;
const GRACE: Cycle = 12_000;

/// Windows are shorter here than with any slow path; so is the time for which a microengine relies
/// on the last phase that it read.
const SHORT: Edit = Edit {
    file: "quick-start/grant_atomic.uc",
    from: "#define QS_KNOWN_LOG 14",
    to: "#define QS_KNOWN_LOG 8",
};

/// The first bytes of a header whose only option is a request, and where its rate
/// code is in a frame.
const IHL_7: u8 = 0x47;
const OPTION: usize = 34;

/// Frames to arrive, and units requested and granted.
struct Traffic {
    arrivals: Vec<Arrival>,
    next: usize,
    left: usize,
    granted: i64,
    asked: i64,
}

fn code(bytes: &[u8]) -> Option<u8> {
    let request = bytes[12..15] == [8, 0, IHL_7] && bytes[OPTION..OPTION + 2] == [25, 8];
    request.then(|| bytes[OPTION + 2])
}

impl PortIo for Traffic {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let arrival = self.arrivals.get(self.next).cloned();
        self.next += usize::from(arrival.is_some());
        arrival
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.left += 1;
        if let Some(code) = code(departure.bytes).filter(|code| *code > 0) {
            self.granted += units(code);
        }
    }

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

/// One's complement sum over a header, folded.
fn fold(header: &[u8]) -> u16 {
    let pairs = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum: u32 = pairs.sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// Half of the frames contain a request, each for a different rate.
fn traffic(loaded: &Loaded, rate: &str, time: &str) -> Traffic {
    let load = Load {
        rate: Some(rate.parse().unwrap()),
        time: time.parse().unwrap(),
        special: Special {
            options: "0.5".parse().unwrap(),
            option: "1908086456970f84".parse().unwrap(),
            ..Special::default()
        },
        arrivals: Arrivals::Poisson,
        ..Load::default()
    };
    let project = &loaded.project;
    let load = npsim::load::resolved(load, project);
    let frames = Generator::new(&load, &npsim::load::ports(project)).unwrap();
    let cycles = |ps: u128| (ps * u128::from(project.capacity.hertz)).div_ceil(PICO) as Cycle;
    let mut traffic = Traffic {
        arrivals: Vec::new(),
        next: 0,
        left: 0,
        granted: 0,
        asked: 0,
    };
    for (frame, planned) in (0..).zip(frames) {
        let mut bytes = planned.bytes;
        bytes.resize(bytes.len().max(60), 0);
        if code(&bytes).is_some() {
            let code = (mix(frame as u32, 5) % 10 + 1) as u8;
            traffic.asked += units(code);
            bytes[OPTION + 2] = code;
            bytes[24..26].fill(0);
            let sum = !fold(&bytes[14..42]);
            bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        }
        traffic.arrivals.push(Arrival {
            start: cycles(planned.start_ps),
            end: cycles(planned.end_ps),
            port: planned.port as u8,
            bytes,
            frame,
        });
    }
    traffic
}

/// Sends the load through while windows turn.
fn grants(project: &str, set: &[&str], load_of: [&str; 2], edits: &[Edit]) -> Result<(), String> {
    let overrides = Overrides {
        set: set.iter().map(|text| text.parse().unwrap()).collect(),
        ..Overrides::default()
    };
    let mut all = vec![SHORT];
    all.extend_from_slice(edits);
    let loaded = load(project, &overrides, &all);
    let mut traffic = traffic(&loaded, load_of[0], load_of[1]);
    let mut chip = loaded.chip.clone();
    let state = loaded.value("QS_STATE");
    let frames = traffic.arrivals.len();
    let end = traffic.arrivals.iter().map(|it| it.end).max().unwrap() + 200_000;
    // About an eighth of the requests in a window can be granted.
    let share = traffic.asked * WINDOW as i64 / end as i64 / 8;
    let (mut counted, mut window) = (0, 0);
    let mut limit = share.max(64);
    assert!(chip.units_mut().scratch.write(state, limit as u32));
    assert!(chip.units_mut().scratch.write(state + 4, 0));
    let mut full = 0;
    while chip.now() < end {
        let counter = |window: u32| state + 8 + 8 * (window % 2);
        let turn = chip.now() + WINDOW;
        let mut run_until = |chip: &mut npsim_chip::chip::Chip, until| match chip.run(
            until,
            &mut traffic,
            &mut NoObserver,
        ) {
            Stop::Fault(fault) => Err(format!("{fault:?}")),
            _ => Ok(()),
        };
        run_until(&mut chip, turn)?;
        assert!(chip.units_mut().scratch.write(counter(window + 1), 0));
        let next = share * i64::from(mix(window, 9) % 4) + 2 * i64::from(window % 5);
        assert!(chip.units_mut().scratch.write(state, next as u32));
        assert!(
            chip.units_mut()
                .scratch
                .write(state + 4, 8 * ((window + 1) % 2))
        );
        run_until(&mut chip, turn + GRACE)?;
        let granted = chip
            .units()
            .scratch
            .read(counter(window))
            .unwrap()
            .cast_signed();
        ensure((0..=limit).contains(&i64::from(granted)), || {
            format!("window {window}: {granted} of {limit} granted")
        })?;
        full += u32::from(i64::from(granted) > limit / 2 && limit > 64);
        counted += i64::from(granted);
        limit = next;
        window += 1;
    }
    // The last window had nothing to do.
    ensure(traffic.left == frames, || {
        format!("{} of {frames} frames left", traffic.left)
    })?;
    ensure(counted == traffic.granted, || {
        format!("{} granted, {counted} counted", traffic.granted)
    })?;
    ensure(full >= 3, || {
        format!("{full} of {window} windows had much to grant")
    })
}

const IXP2400: [&str; 2] = ["0.6Mpps", "1ms"];
const IXP2800: [&str; 2] = ["4Mpps", "400us"];

#[test]
fn grants_in_frames_equal_the_counted_grants() {
    for variant in ["lock", "atomic"] {
        let small = grants(&format!("quick-start/{variant}.toml"), &[], IXP2400, &[]);
        assert_eq!(small, Ok(()), "{variant} on an IXP2400");
        let project = format!("quick-start/ixp2800-{variant}.toml");
        let large = grants(&project, &["me.processing.id=4-15"], IXP2800, &[]);
        assert_eq!(large, Ok(()), "{variant} on an IXP2800");
    }
}

#[test]
fn router_without_its_lock_is_detected() {
    for (project, edit) in [("lock", NO_LOCK), ("atomic", TORN)] {
        let project = format!("quick-start/ixp2800-{project}.toml");
        let what = grants(&project, &["me.processing.id=4-15"], IXP2800, &[edit]);
        let what = what.expect_err(&project);
        assert!(what.contains("granted"), "{project}: {what}");
    }
}
