//! A timeline has a form that a viewer can show.

use std::collections::{BTreeMap, BTreeSet};

use npsim_observe::profile::Collector;
use npsim_observe::series::Series;
use npsim_observe::timeline::Recorder;
use serde_json::Value;

use crate::runs::{Run, crowd};

/// A timeline read back.
pub struct Timeline {
    events: Vec<Event>,
}

struct Event {
    all: Value,
    /// Nanoseconds, from the text.
    ns: Option<u64>,
}

impl Event {
    fn text(&self, key: &str) -> &str {
        self.all[key].as_str().unwrap_or_default()
    }

    fn number(&self, key: &str) -> u64 {
        self.all[key].as_u64().unwrap_or_default()
    }

    fn phase(&self) -> &str {
        self.text("ph")
    }

    fn track(&self) -> (u64, u64) {
        (self.number("pid"), self.number("tid"))
    }
}

/// A slice of a track.
#[derive(Clone, Debug)]
struct Slice {
    name: String,
    from: u64,
    until: u64,
}

impl Timeline {
    pub fn of(run: &Run, until: Option<u64>, window: (u64, u64)) -> Self {
        let mut simulation = run.simulation(until);
        let mut recorder = Recorder::new(Vec::new(), "test", simulation.chip(), window)
            .with_ring_names(Series::new(&run.project).places());
        run.watch(&mut simulation, &mut recorder);
        let bytes = recorder.finish(simulation.now()).expect("a Vec takes all");
        Self::read(&String::from_utf8(bytes).expect("UTF-8"))
    }

    fn read(text: &str) -> Self {
        let whole: Value = serde_json::from_str(text).expect("JSON");
        let events = whole["traceEvents"].as_array().expect("events");
        let lines: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with("{\"ph\""))
            .collect();
        assert_eq!(lines.len(), events.len(), "an event a line");
        let events = lines
            .into_iter()
            .zip(events)
            .map(|(line, event)| Event {
                all: event.clone(),
                ns: line.split_once("\"ts\":").map(|(_, rest)| {
                    let end = rest.find([',', '}']).expect("an end");
                    let (us, ns) = rest[..end].split_once('.').expect("decimals");
                    assert_eq!(ns.len(), 3, "{line}");
                    us.parse::<u64>().expect(line) * 1000 + ns.parse::<u64>().expect(line)
                }),
            })
            .collect();
        Self { events }
    }

    /// Instructions of all slices.
    pub fn instructions(&self) -> u64 {
        let all = self.events.iter();
        all.filter_map(|it| it.all["args"]["instructions"].as_u64())
            .sum()
    }

    /// The slices of each track. They must begin and end in turn and in order.
    fn slices(&self) -> BTreeMap<(u64, u64), Vec<Slice>> {
        let mut tracks: BTreeMap<_, Vec<Slice>> = BTreeMap::new();
        let mut open: BTreeMap<(u64, u64), Slice> = BTreeMap::new();
        for event in &self.events {
            let track = event.track();
            match event.phase() {
                "B" => {
                    let from = event.ns.expect("a time");
                    let last = tracks.get(&track).and_then(|all| all.last());
                    assert!(last.is_none_or(|last| last.until <= from), "{track:?}");
                    let slice = Slice {
                        name: event.text("name").to_owned(),
                        from,
                        until: from,
                    };
                    assert!(open.insert(track, slice).is_none(), "{track:?} overlaps");
                }
                "E" => {
                    let mut slice = open.remove(&track).expect("a beginning");
                    slice.until = event.ns.expect("a time");
                    assert!(slice.until >= slice.from);
                    tracks.entry(track).or_default().push(slice);
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        tracks
    }

    /// Names of tracks or groups.
    fn names(&self, what: &str) -> BTreeMap<(u64, u64), &str> {
        self.events
            .iter()
            .filter(|event| event.phase() == "M" && event.text("name") == what)
            .map(|event| {
                let name = event.all["args"]["name"].as_str().expect("a name");
                (event.track(), name)
            })
            .collect()
    }

    /// Checks the properties of every timeline.
    fn is_well_formed(&self, (from, until): (u64, u64)) {
        let slices = self.slices();
        let (groups, tracks) = (self.names("process_name"), self.names("thread_name"));
        let tids: BTreeSet<_> = tracks.keys().map(|track| track.1).collect();
        assert_eq!(tids.len(), tracks.len(), "track numbers are unique");
        let mut counters: BTreeMap<(u64, &str), u64> = BTreeMap::new();
        let mut flows: BTreeMap<u64, Vec<&Event>> = BTreeMap::new();
        for event in &self.events {
            let Some(ns) = event.ns else {
                assert_eq!(event.phase(), "M");
                continue;
            };
            assert!((from..=until).contains(&ns), "{ns} in {from}..{until}");
            let track = event.track();
            assert!(groups.contains_key(&(track.0, 0)), "{track:?}");
            match event.phase() {
                "C" => {
                    let key = (track.0, event.text("name"));
                    let last = counters.insert(key, ns);
                    assert!(last.is_none_or(|last| last <= ns), "{key:?}");
                    assert!(event.all["args"]["value"].is_u64());
                }
                "s" | "t" | "f" => {
                    let inside = slices[&track]
                        .iter()
                        .any(|slice| (slice.from..slice.until).contains(&ns));
                    assert!(inside, "a packet at {ns} on no slice of {track:?}");
                    flows.entry(event.number("id")).or_default().push(event);
                }
                "B" | "E" | "i" => assert!(tracks.contains_key(&track), "{track:?}"),
                other => panic!("an event of kind {other}"),
            }
        }
        for (frame, points) in &flows {
            let phases: String = points.iter().map(|point| point.phase()).collect();
            assert!(
                phases.starts_with('s') && phases.ends_with('f'),
                "frame {frame}: {phases}"
            );
            assert_eq!(phases.matches(['s', 'f']).count(), 2, "frame {frame}");
            assert!(points.windows(2).all(|two| two[0].ns <= two[1].ns));
        }
    }

    /// Nanoseconds of a track's slices with these names.
    fn spent(&self, track: (u64, u64), names: &[&str]) -> u64 {
        self.slices()[&track]
            .iter()
            .filter(|slice| names.contains(&slice.name.as_str()))
            .map(|slice| slice.until - slice.from)
            .sum()
    }
}

/// Nanoseconds after the end of a run for which buses and units are booked.
const BOOKED: u64 = 1000;

/// Nanoseconds of a cycle at 600 MHz.
fn ns(cycle: u64) -> u64 {
    cycle * 10 / 6
}

#[test]
fn forwarder_timeline_has_expected_tracks_and_counters() {
    let run = Run::forwarder();
    let window = (90_000, 120_000);
    let timeline = Timeline::of(&run, None, window);
    timeline.is_well_formed((ns(window.0), ns(window.1)));
    let slices = timeline.slices();
    let names = timeline.names("thread_name");
    for wanted in [
        "port 0 in",
        "port 2 out",
        "scratch",
        "sram0 reads",
        "dram0 bank 0",
        "dram0 pins",
        "D push bus",
        "receive bus",
        "context 7",
    ] {
        assert!(names.values().any(|name| *name == wanted), "{wanted}");
    }
    // Contexts of both microengines are always active.
    for (track, name) in names.iter().filter(|it| it.1.starts_with("context")) {
        let all = &slices[track];
        assert_eq!(all[0].from, ns(window.0), "{name}");
        assert_eq!(all[all.len() - 1].until, ns(window.1), "{name}");
        for two in all.windows(2) {
            assert_eq!(two[0].until, two[1].from, "{name}: {two:?}");
        }
    }
    let counters: BTreeSet<_> = timeline
        .events
        .iter()
        .filter(|event| event.phase() == "C")
        .map(|event| event.text("name"))
        .collect();
    for wanted in [
        "TX_RING (scratch ring 0)",
        "dram0 queue",
        "RBUF elements in use",
    ] {
        assert!(counters.contains(wanted), "{wanted} of {counters:?}");
    }
}

#[test]
fn packet_flow_arrows_cross_two_microengines() {
    let run = Run::forwarder();
    let timeline = Timeline::of(&run, Some(60_000), (0, 60_000));
    let names = timeline.names("thread_name");
    let mut ways: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for event in &timeline.events {
        if matches!(event.phase(), "s" | "t" | "f") {
            let way = ways.entry(event.number("id")).or_default();
            way.push(event.track());
        }
    }
    let whole = ways.values().filter(|way| {
        let [first, between @ .., last] = way.as_slice() else {
            return false;
        };
        let microengines: BTreeSet<_> = between.iter().map(|track| track.0).collect();
        names[first].ends_with("in") && names[last].ends_with("out") && microengines.len() == 2
    });
    assert!(whole.count() > 50, "of {} packets", ways.len());
}

#[test]
fn timeline_state_durations_match_the_profile() {
    let (run, _folder) = Run::source(&crowd(), "0-2");
    let end = 12_000;
    let timeline = Timeline::of(&run, Some(end), (0, u64::MAX));
    timeline.is_well_formed((0, ns(end) + BOOKED));
    let mut simulation = run.simulation(Some(end));
    let mut collector = Collector::new(simulation.chip());
    run.watch(&mut simulation, &mut collector);
    let profile = collector.finish(simulation.now());
    let mut stalled = 0;
    for me in &profile.microengines {
        for (context, spent) in (0..).zip(&me.contexts) {
            let pid = 10 + u64::from(me.index);
            let track = (pid, pid * 1000 + 1 + context);
            // Each slice is rounded down at both ends.
            let near = |shown: u64, cycles: u64| shown.abs_diff(ns(cycles)) <= 2_000;
            let busy = timeline.spent(track, &["executing"]);
            assert!(
                near(busy, spent.issued + spent.aborted),
                "{track:?}: {busy} ns, {spent:?}"
            );
            let held = timeline.spent(track, &["stalled on the command FIFO"]);
            assert!(near(held, spent.stalled), "{track:?}: {held} ns, {spent:?}");
            assert!(near(timeline.spent(track, &["ready"]), spent.ready));
            assert!(near(
                timeline.spent(track, &["waits for done"]),
                spent.waiting
            ));
            stalled += held;
        }
    }
    assert!(stalled > 0);
}

#[test]
fn any_window_is_well_formed() {
    let run = Run::forwarder();
    for window in [(0, 1), (0, 7_000), (33_333, 33_400), (59_990, 70_000)] {
        let end = 60_000;
        let shown = (ns(window.0), ns(window.1.min(end)) + BOOKED);
        Timeline::of(&run, Some(end), window).is_well_formed(shown);
    }
    let larger = Run::forwarder_on_2800();
    let timeline = Timeline::of(&larger, Some(600_000), (100_000, 150_000));
    // 1.4 GHz.
    timeline.is_well_formed((100_000 * 5 / 7, 150_000 * 5 / 7));
    let nothing = Timeline::of(&run, Some(1_000), (2_000, 3_000));
    assert!(nothing.events.is_empty());
}
