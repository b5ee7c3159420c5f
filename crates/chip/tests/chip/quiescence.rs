//! Time that is skipped is time that was simulated: random programs that poll come to
//! the same state, in every byte, whether the chip skips or not, wherever they are
//! stopped and looked at.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use npsim_asm::{Includes, Options};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::gpp::boot::{Boot, RingSetup, RingStatus};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::lines::{Arrival, Departure, Lines, MediaDrop};
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{Kind, Kinds, TraceEvent};
use npsim_chip::microengine::Program;
use npsim_chip::profile::Profile;
use proptest::prelude::*;

/// Frames of 60 bytes at given cycles, for which no thread waits.
struct Frames(Vec<Cycle>);

impl Lines for Frames {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let start = self.0.pop()?;
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

/// What a context does in a round of its loop.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// Reads a longword and waits for it.
    Read(&'static str, u8),
    /// Writes the same value each time.
    Write(&'static str, u8),
    /// Takes a bit and gives it back.
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
    /// Counts rounds in a register, and so does never the same again.
    Count,
    /// Counts to a number and begins again.
    CountTo(u8),
    /// Counts in memory.
    Increment(u8),
    /// Draws a random number.
    Random,
    /// Counts rounds and does something else after so many.
    Change(u16),
    /// Counts in the register that times for timers are made in, and does something
    /// else after so many.
    CountInTime(u8),
    /// Reads the timestamp in defer slots and branches by a bit of it behind them.
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

fn chip(programs: &[Vec<Piece>]) -> Chip {
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
    let boot = Boot {
        rings: vec![ring(0), ring(1)],
        ..Boot::default()
    };
    let programs = (0..).zip(programs);
    let programs = programs.map(|(me, pieces)| (me, program(pieces, &profile)));
    let programs = programs.collect();
    let mut chip = Chip::new(profile, &boot, programs).unwrap();
    chip.allow(Check::UninitialisedRead);
    chip
}

/// What is told, as it is told.
#[derive(Default)]
struct Told {
    kinds: Kinds,
    digest: DefaultHasher,
    count: u64,
}

impl Observer for Told {
    fn wants(&self) -> Kinds {
        self.kinds
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        format!("{at} {event:?}").hash(&mut self.digest);
        self.count += 1;
    }
}

/// The states at each of the cycles, with what an observer is told until then, and how
/// many cycles were skipped.
fn states(
    mut chip: Chip,
    (frames, stops): (&[Cycle], &[Cycle]),
    kinds: Kinds,
    skips: bool,
) -> (Vec<String>, Cycle) {
    let mut told = Told {
        kinds,
        ..Told::default()
    };
    chip.set_skipping(skips);
    let mut lines = Frames(frames.iter().rev().copied().collect());
    let mut seen = Vec::new();
    for stop in stops {
        let how = chip.run(*stop, &mut lines, &mut told);
        seen.push(format!("{how:?} {:?}", chip.stats()));
        seen.push(format!("{} events, {}", told.count, told.digest.finish()));
        seen.push(format!("{:?}", chip.save().unwrap()));
        if how != Stop::Reached {
            break;
        }
    }
    (seen, chip.skipped())
}

fn at_cycles(upto: Cycle, count: usize) -> impl Strategy<Value = Vec<Cycle>> {
    proptest::collection::vec(1..upto, 0..count).prop_map(|mut cycles| {
        cycles.sort_unstable();
        cycles.dedup();
        cycles
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn skipping_changes_nothing(
        programs in proptest::collection::vec(proptest::collection::vec(piece(), 1..6), 1..4),
        frames in at_cycles(2_000_000, 4),
        stops in at_cycles(3_000_000, 5),
        kinds in prop_oneof![
            8 => Just(Kinds::NONE),
            1 => Just(Kinds::ALL),
            1 => Just(Kinds::of(&[Kind::Issued, Kind::Context, Kind::Signal])),
        ],
    ) {
        let whole = chip(&programs);
        let (skipped, cycles) = states(whole.clone(), (&frames, &stops), kinds, true);
        let (simulated, none) = states(whole, (&frames, &stops), kinds, false);
        prop_assert_eq!(none, 0);
        prop_assert!(skipped == simulated, "{} cycles were skipped", cycles);
    }
}

#[test]
fn what_polls_is_skipped_and_what_reads_the_clock_is_not() {
    let skipped = |pieces: &[Piece]| {
        let chip = chip(&[pieces.to_vec()]);
        let (_, cycles) = states(chip, (&[], &[4_000_000]), Kinds::NONE, true);
        cycles
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
