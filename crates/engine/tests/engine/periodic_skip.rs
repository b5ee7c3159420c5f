//! Skipped time equals simulated time: random programs that poll reach the same state, in every
//! byte, whether the chip skips or not, wherever they are stopped and inspected.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use npsim_asm::{Includes, Options};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::Program;
use npsim_chip::gpp::boot::{BootPlan, RingSetup, RingStatus};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::fault_injection::{Lateness, Perturbations, Stall};
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent, TraceEventKind};
use npsim_engine::ENGINE;
use npsim_inspect::stats::Stats;
use npsim_profile::Profile;
use proptest::prelude::*;

/// Frames of 60 bytes at given cycles, for which no thread waits.
struct Frames {
    /// The last of them first.
    starts: Vec<Cycle>,
    /// Frames that begin later are not known yet.
    known_to: Cycle,
}

impl PortIo for Frames {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let known = self.starts.last()? <= &self.known_to;
        let start = known.then(|| self.starts.pop())??;
        Some(Arrival {
            start,
            end: start + 346,
            port: 0,
            bytes: vec![0; 60],
            frame: start,
        })
    }

    fn departed(&mut self, departure: Departure<'_>) {
        panic!("a frame left: {departure:?}");
    }

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

/// An action of a context in an iteration of its loop.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// Reads a longword and waits for it.
    Read(&'static str, u8),
    /// Writes the same value each time.
    Write(&'static str, u8),
    /// Sets a bit and clears it again.
    TakeAndGive(u8),
    /// Polls a ring that is empty.
    Get(u8),
    /// Tests a ring's status.
    Status(u8),
    /// Lets others run.
    Yield,
    /// Spends cycles.
    Work(u8),
    /// Waits for a time.
    Wait(u8),
    /// Waits until a count, whatever the time is.
    Until(u16),
    /// Sets a timer to a count and then to a time.
    UntilOrWait(u16, u8),
    /// Waits for a time after a reading of long ago.
    Stale(u8),
    /// Sets a timer to the sum of two readings, and then to a time.
    Sum(u8),
    /// Branches by a bit of the timestamp.
    Clock(u8),
    /// Keeps a timestamp in memory.
    Stamp(u8),
    /// Counts iterations in a register, so that no iteration repeats.
    Count,
    /// Counts to a number and begins again.
    CountTo(u8),
    /// Counts in memory.
    Increment(u8),
    /// Draws a random number.
    Random,
    /// Counts iterations and does something else after a number of them.
    Change(u16),
    /// Counts in the register in which timer values are computed, and does something else after a
    /// number of iterations.
    CountInTime(u8),
    /// Reads the timestamp in defer slots and branches by one of its bits after them.
    Deferred(u8),
}

impl Piece {
    fn write(self, number: usize, text: &mut String) {
        let done = match self {
            Self::Read(space, at) => {
                writeln!(
                    text,
                    "{space}[read, $word, base, {}, 1], ctx_swap[done]",
                    at * 4
                )
            }
            Self::Write(space, at) => writeln!(
                text,
                "immed[$word, {at}]\n{space}[write, $word, base, {}, 1], ctx_swap[done]",
                at * 4
            ),
            Self::TakeAndGive(at) => writeln!(
                text,
                "immed[$word, 1]\nscratch[test_and_set, $word, base, {0}], ctx_swap[pair]\n\
                 immed[$word, 0]\nscratch[write, $word, base, {0}, 1], ctx_swap[done]",
                at * 4
            ),
            Self::Get(ring) => {
                writeln!(
                    text,
                    "scratch[get, $word, base, {}, 1], ctx_swap[done]",
                    ring * 4
                )
            }
            Self::Status(ring) => {
                writeln!(
                    text,
                    "br_inp_state[scr_ring{ring}_status, at{number}#]\nnop\nat{number}#:"
                )
            }
            Self::Yield => writeln!(text, "ctx_arb[voluntary]"),
            Self::Work(cycles) => {
                (0..cycles).try_for_each(|_| writeln!(text, "alu[other, other, XOR, base]"))
            }
            Self::Wait(ticks) => writeln!(
                text,
                "local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[time, time, +, {ticks}]\n\
                 local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n.set_sig rung\nctx_arb[rung]"
            ),
            Self::Until(count) => writeln!(
                text,
                "immed[time, {count}]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n.set_sig rung\nctx_arb[rung]"
            ),
            Self::UntilOrWait(count, ticks) => writeln!(
                text,
                "immed[time, {count}]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n\
                 local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[time, time, +, {ticks}]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n.set_sig rung\nctx_arb[rung]"
            ),
            Self::Stale(ticks) => writeln!(
                text,
                "alu[time, start, +, {ticks}]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n\
                 local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[time, time, +, 20]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n.set_sig rung\nctx_arb[rung]"
            ),
            Self::Sum(ticks) => writeln!(
                text,
                "local_csr_rd[TIMESTAMP_LOW]\nimmed[other, 0]\n\
                 local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[time, time, +, other]\n\
                 immed[other, 0]\nlocal_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n\
                 local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[time, time, +, {ticks}]\n\
                 local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, time]\n.set_sig rung\nctx_arb[rung]"
            ),
            Self::Clock(bit) => writeln!(
                text,
                "local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nbr_bset[time, {bit}, at{number}#]\n\
                 nop\nnop\nnop\nat{number}#:"
            ),
            Self::Stamp(at) => writeln!(
                text,
                "local_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\nalu[$word, --, B, time]\n\
                 sram[write, $word, base, {}, 1], ctx_swap[done]",
                at * 4
            ),
            Self::Count => writeln!(text, "alu[count, count, +, 1]"),
            Self::CountTo(most) => writeln!(
                text,
                "alu[count, count, +, 1]\nalu[--, count, -, {most}]\nblt[at{number}#]\n\
                 immed[count, 0]\nat{number}#:"
            ),
            Self::Increment(at) => writeln!(text, "scratch[incr, --, base, {}]", at * 4),
            Self::Random => writeln!(
                text,
                "local_csr_rd[PSEUDO_RANDOM_NUMBER]\nimmed[time, 0]\nbr_bset[time, 0, at{number}#]\n\
                 nop\nat{number}#:"
            ),
            Self::Change(rounds) => writeln!(
                text,
                "alu[count, count, +, 1]\nimmed[time, {rounds}]\nalu[--, count, -, time]\n\
                 blt[at{number}#]\nctx_arb[kill]\nat{number}#:"
            ),
            Self::CountInTime(step) => writeln!(
                text,
                "alu[time, count, +, {step}]\nalu[count, --, B, time]\nalu[--, time, -, base]\n\
                 br_bclr[time, 12, at{number}#]\nctx_arb[kill]\nat{number}#:"
            ),
            Self::Deferred(bit) => writeln!(
                text,
                "br[to{number}#], defer[2]\nlocal_csr_rd[TIMESTAMP_LOW]\nimmed[time, 0]\n\
                 nop\nto{number}#:\nbr_bset[time, {bit}, at{number}#]\nnop\nnop\nat{number}#:"
            ),
        };
        done.unwrap();
    }
}

fn piece() -> impl Strategy<Value = Piece> {
    let space = prop_oneof![Just("scratch"), Just("sram")];
    prop_oneof![
        6 => (space.clone(), 8..20_u8).prop_map(|(space, at)| Piece::Read(space, at)),
        2 => (space, 8..20_u8).prop_map(|(space, at)| Piece::Write(space, at)),
        2 => (20..22_u8).prop_map(Piece::TakeAndGive),
        4 => (0..2_u8).prop_map(Piece::Get),
        3 => (0..2_u8).prop_map(Piece::Status),
        4 => Just(Piece::Yield),
        4 => (1..40_u8).prop_map(Piece::Work),
        5 => (1..200_u8).prop_map(Piece::Wait),
        1 => any::<u16>().prop_map(Piece::Until),
        1 => (any::<u16>(), 1..200_u8).prop_map(|(count, ticks)| Piece::UntilOrWait(count, ticks)),
        1 => (1..200_u8).prop_map(Piece::Stale),
        1 => (1..200_u8).prop_map(Piece::Sum),
        1 => (0..14_u8).prop_map(Piece::Clock),
        1 => (22..24_u8).prop_map(Piece::Stamp),
        1 => Just(Piece::Count),
        2 => (1..9_u8).prop_map(Piece::CountTo),
        1 => (24..26_u8).prop_map(Piece::Increment),
        1 => Just(Piece::Random),
        2 => (1..2000_u16).prop_map(Piece::Change),
        1 => (1..60_u8).prop_map(Piece::CountInTime),
        1 => (6..14_u8).prop_map(Piece::Deferred),
    ]
}

struct One(String);

impl Includes for One {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.clone()))
    }
}

fn program(pieces: &[Piece], profile: &Profile) -> Program {
    let mut text = ".reg base other count time start $word\n.sig done pair rung\n\
                    local_csr_rd[TIMESTAMP_LOW]\nimmed[start, 0]\nimmed[base, 0]\nimmed[other, 0]\nimmed[count, 0]\nagain#:\n"
        .to_owned();
    for (number, piece) in pieces.iter().enumerate() {
        piece.write(number, &mut text);
    }
    text.push_str("ctx_arb[voluntary], br[again#]\n");
    let assembly = npsim_asm::assemble("poll.uc", &One(text.clone()), &Options::default());
    let image = assembly.image.unwrap_or_else(|| panic!("{text}"));
    Program::new(&image, profile).unwrap()
}

fn chip(programs: &[Vec<Piece>], disturbances: Perturbations) -> Chip {
    let profile = Profile::load("ixp2400").unwrap();
    let ring = |number: u8| RingSetup {
        number,
        base: 0x1000 + 0x200 * u32::from(number),
        size: 128,
        status: if number == 0 {
            RingStatus::Empty
        } else {
            RingStatus::NearlyFull
        },
    };
    let boot = BootPlan {
        rings: vec![ring(0), ring(1)],
        disturbances,
        ..BootPlan::default()
    };
    let programs = (0..).zip(programs);
    let programs = programs.map(|(me, pieces)| (me, program(pieces, &profile)));
    let programs = programs.collect();
    let mut chip = Chip::new(ENGINE, profile, &boot, programs).unwrap();
    chip.allow(Check::UninitialisedRead);
    chip
}

/// The events that an observer receives, in order.
#[derive(Default)]
struct EventDigest {
    kinds: EventKinds,
    digest: DefaultHasher,
    /// The events of instructions, each by itself and in any order.
    issued: u64,
    count: u64,
}

impl Observer for EventDigest {
    fn wants(&self) -> EventKinds {
        self.kinds
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        // One event stands for several consecutive instructions. The end of a run splits it in two,
        // and fewer runs end if time is skipped, so instructions are compared one by one.
        let &TraceEvent::Issued {
            me,
            context,
            pc,
            count,
        } = event
        else {
            format!("{at} {event:?}").hash(&mut self.digest);
            self.count += 1;
            return;
        };
        for n in 0..count {
            let mut one = DefaultHasher::new();
            (at + Cycle::from(n), me, context, pc + n).hash(&mut one);
            self.issued = self.issued.wrapping_add(one.finish());
        }
        self.count += u64::from(count);
    }
}

/// How a chip reaches a cycle at which it is inspected, and how it continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    /// The end of a run.
    Horizon,
    /// A pause, which does not affect any part of the chip.
    Pause,
    /// A pause, which does not affect any part of the chip; the state saved there continues in
    /// another chip.
    Saved,
}

/// How a chip is run.
#[derive(Clone, Debug)]
struct Course {
    frames: Vec<Cycle>,
    /// No frame is known before its first bit arrives, as between chips of a network.
    surprised: bool,
    /// Ascending.
    halts: Vec<(Cycle, Halt)>,
    /// The watcher is called again after this many cycles, if no time is skipped there.
    breath: Cycle,
    /// A run to a horizon consists of runs of this many cycles, or as long as the chip reports silence, as between
    /// nearby chips of a network.
    window: Option<Cycle>,
}

impl Course {
    fn to(end: Cycle) -> Self {
        Self {
            frames: Vec::new(),
            surprised: false,
            halts: vec![(end, Halt::Horizon)],
            breath: Cycle::MAX,
            window: None,
        }
    }

    /// Everything observed during the run.
    fn all_halts(&self) -> Vec<(Cycle, Halt)> {
        let mut all = self.halts.clone();
        if self.surprised {
            all.extend(self.frames.iter().map(|start| (*start, Halt::Horizon)));
            all.sort_by_key(|halt| halt.0);
        }
        all
    }
}

/// The counts at each of the cycles, with the events that an observer has received until then and,
/// at a horizon, the whole state; and the number of skipped cycles.
fn states(whole: &Chip, course: &Course, kinds: EventKinds, skips: bool) -> (Vec<String>, Cycle) {
    let mut told = EventDigest {
        kinds,
        ..EventDigest::default()
    };
    let mut chip = whole.clone();
    chip.set_skipping(skips);
    if course.window.is_some() {
        chip.keep_open();
    }
    let mut lines = Frames {
        starts: course.frames.iter().rev().copied().collect(),
        known_to: Cycle::MAX,
    };
    let halts = course.all_halts();
    let (mut seen, mut skipped, mut now) = (Vec::new(), 0, 0);
    for (n, &(at, halt)) in halts.iter().enumerate() {
        if course.surprised {
            lines.known_to = now;
        }
        let horizon = halts[n..].iter().find(|it| it.1 == Halt::Horizon);
        let until = horizon.map_or(LAST, |it| it.0);
        let pause = if halt == Halt::Horizon {
            Cycle::MAX
        } else {
            at
        };
        let window = course.window.filter(|_| halt == Halt::Horizon);
        let mut end = window.map_or(until, |_| now);
        let how = loop {
            end = window.map_or(end, |window| {
                (end + window).max(chip.take_quiet_until()).min(until)
            });
            let how = loop {
                let breath = chip.next_event().saturating_add(course.breath);
                let how = chip.run_for(end, pause, breath, &mut lines, &mut told);
                if how.is_some() || chip.next_event() >= pause {
                    break how;
                }
            };
            if how != Some(Stop::Reached) || end == until {
                break how;
            }
        };
        now = at;
        seen.push(format!("{how:?} {:?}", Stats::collect(&chip)));
        let digests = (told.issued, told.digest.finish());
        seen.push(format!("{} events, {digests:?}", told.count));
        if how.is_some() {
            seen.push(format!("{:?}", chip.save().unwrap()));
        }
        if how.is_some_and(|how| how != Stop::Reached) {
            break;
        }
        if halt == Halt::Saved {
            skipped += chip.skipped();
            let state = chip.save().unwrap();
            chip = whole.clone();
            chip.set_skipping(skips);
            chip.restore(&state).unwrap();
        }
    }
    (seen, skipped + chip.skipped())
}

/// The end of a run that pauses before it.
const LAST: Cycle = 3_000_000;

fn at_cycles(upto: Cycle, count: usize) -> impl Strategy<Value = Vec<Cycle>> {
    proptest::collection::vec(1..upto, 0..count).prop_map(|mut cycles| {
        cycles.sort_unstable();
        cycles.dedup();
        cycles
    })
}

fn course() -> impl Strategy<Value = Course> {
    let halt = prop_oneof![
        3 => Just(Halt::Horizon),
        2 => Just(Halt::Pause),
        1 => Just(Halt::Saved)
    ];
    let halts = (at_cycles(LAST, 5), proptest::collection::vec(halt, 5));
    let breath = prop_oneof![4 => Just(Cycle::MAX), 1 => 1000..200_000_u64];
    let window = prop_oneof![1 => Just(None), 1 => (100..20_000_u64).prop_map(Some)];
    let frames = at_cycles(2_000_000, 4);
    (frames, any::<bool>(), halts, breath, window).prop_map(
        |(frames, surprised, (cycles, halts), breath, window)| Course {
            frames,
            surprised,
            halts: cycles.into_iter().zip(halts).collect(),
            breath,
            window,
        },
    )
}

/// Late commands, each of which draws a random number, prevent a state from recurring: often they
/// are those of one memory.
fn disturbances() -> impl Strategy<Value = Perturbations> {
    let late = (any::<u64>(), 1..300_u32, 0..3).prop_map(|(seed, most, memory)| {
        let of = |which| if memory == which { most } else { 0 };
        Lateness {
            seed,
            dram: of(0),
            sram: of(1),
            scratch: of(2),
        }
    });
    let late = prop_oneof![2 => Just(Lateness::default()), 1 => late];
    let stall = (0..8_u8, 0..2_000_000_u64, 1..300_000_u64);
    let stall = stall.prop_map(|(context, from, cycles)| Stall {
        me: 0,
        context,
        from,
        until: from + cycles,
    });
    let stalls = prop_oneof![
        2 => Just(Vec::new()),
        1 => proptest::collection::vec(stall, 1..3)
    ];
    (late, stalls).prop_map(|(late, stalls)| Perturbations { late, stalls })
}

/// The parts of two texts with a common beginning around their first difference.
fn difference(skipped: &str, simulated: &str) -> String {
    let same = { skipped.bytes().zip(simulated.bytes()) }
        .take_while(|it| it.0 == it.1)
        .count();
    let part = |text: &str| -> String {
        let start = same.saturating_sub(100);
        text.chars().skip(start).take(200).collect()
    };
    format!("`{}` instead of `{}`", part(skipped), part(simulated))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: npsim_strategy::cases(10), ..ProptestConfig::default() })]

    #[test]
    fn skipped_runs_match_simulated_runs(
        programs in proptest::collection::vec(proptest::collection::vec(piece(), 1..6), 1..4),
        course in course(),
        disturbances in disturbances(),
        kinds in prop_oneof![
            4 => Just(EventKinds::NONE),
            1 => Just(EventKinds::ALL),
            1 => Just(EventKinds::of(&[TraceEventKind::Issued, TraceEventKind::Context, TraceEventKind::Signal])),
        ],
    ) {
        let whole = chip(&programs, disturbances);
        let (skipped, cycles) = states(&whole, &course, kinds, true);
        let (simulated, none) = states(&whole, &course, kinds, false);
        prop_assert_eq!(none, 0);
        prop_assert_eq!(skipped.len(), simulated.len());
        for (skipped, simulated) in skipped.iter().zip(&simulated) {
            prop_assert!(
                skipped == simulated,
                "{cycles} cycles were skipped: {}",
                difference(skipped, simulated)
            );
        }
    }
}

/// Events that an observer gets if a run consists of short ones, and a context is stalled at their
/// ends.
#[test]
fn stall_across_short_runs_gives_the_same_events() {
    let stall = |context, from, until| Stall {
        me: 0,
        context,
        from,
        until,
    };
    let disturbances = Perturbations {
        late: Lateness::default(),
        stalls: vec![stall(3, 447_498, 707_377), stall(4, 1_487_312, 1_488_432)],
    };
    let whole = chip(
        &[vec![Piece::Status(1), Piece::TakeAndGive(20)]],
        disturbances,
    );
    let course = Course {
        halts: vec![
            (500_786, Halt::Horizon),
            (521_278, Halt::Pause),
            (870_380, Halt::Horizon),
        ],
        window: Some(9508),
        ..Course::to(LAST)
    };
    let kinds = EventKinds::of(&[
        TraceEventKind::Issued,
        TraceEventKind::Context,
        TraceEventKind::Signal,
    ]);
    let (skipped, _) = states(&whole, &course, kinds, true);
    let (simulated, _) = states(&whole, &course, kinds, false);
    for (skipped, simulated) in skipped.iter().zip(&simulated) {
        assert!(skipped == simulated, "{}", difference(skipped, simulated));
    }
}

/// A pause, a save and a frame within a skipped stretch.
#[test]
fn time_is_skipped_around_pauses_saves_and_frames() {
    let pieces = [Piece::Read("scratch", 9), Piece::Wait(30)];
    let late = Lateness {
        dram: 100,
        ..Lateness::default()
    };
    let stall = Stall {
        me: 0,
        context: 3,
        from: 300_000,
        until: 400_000,
    };
    let stalls = vec![stall];
    let whole = chip(&[pieces.to_vec()], Perturbations { late, stalls });
    let course = Course {
        frames: vec![600_000, 1_900_000],
        surprised: true,
        halts: vec![
            (1_000_000, Halt::Pause),
            (1_500_000, Halt::Saved),
            (LAST, Halt::Horizon),
        ],
        breath: 50_000,
        window: None,
    };
    let (seen, cycles) = states(&whole, &course, EventKinds::NONE, true);
    assert!(cycles > 2_000_000, "{cycles}");
    assert_eq!(seen, states(&whole, &course, EventKinds::NONE, false).0);
}

/// Runs that are shorter than a search for recurring time.
#[test]
fn period_search_continues_across_short_runs() {
    let pieces = [Piece::Read("scratch", 9), Piece::Wait(30)];
    let whole = chip(&[pieces.to_vec()], Perturbations::default());
    for window in [100, 1_200, 6_000] {
        let course = Course {
            frames: vec![1_000_000, 2_000_000],
            surprised: true,
            halts: vec![(LAST, Halt::Horizon)],
            breath: Cycle::MAX,
            window: Some(window),
        };
        let (seen, cycles) = states(&whole, &course, EventKinds::NONE, true);
        assert!(cycles > 2_000_000, "{window}: {cycles}");
        let simulated = states(&whole, &course, EventKinds::NONE, false);
        assert_eq!((seen, 0), simulated, "{window}");
    }
}

#[test]
fn polling_is_skipped_and_reading_the_clock_is_not() {
    let skipped = |pieces: &[Piece]| {
        let chip = chip(&[pieces.to_vec()], Perturbations::default());
        states(&chip, &Course::to(4_000_000), EventKinds::NONE, true).1
    };
    let most = 3_000_000;
    assert!(skipped(&[Piece::Read("scratch", 9)]) > most);
    assert!(skipped(&[Piece::Get(0), Piece::Work(7)]) > most);
    assert!(skipped(&[Piece::Wait(30), Piece::Read("sram", 9)]) > most);
    assert!(skipped(&[Piece::TakeAndGive(20), Piece::CountTo(2)]) > most);
    for aperiodic in [
        Piece::Clock(13),
        Piece::Stamp(22),
        Piece::Count,
        Piece::Increment(24),
        Piece::Random,
        Piece::Change(9_999),
        Piece::CountInTime(1),
        Piece::Deferred(13),
        Piece::UntilOrWait(0x1234, 50),
        Piece::Stale(50),
        Piece::Sum(50),
    ] {
        let pieces = [Piece::Read("scratch", 9), aperiodic];
        assert_eq!(skipped(&pieces), 0, "{aperiodic:?}");
    }
}
