//! The live ranges of names in the finished program.

use npsim_image::{LiveRange, ProgramPoint};

use crate::middle::bit_set::BitSet;
use crate::middle::groups::Groups;
use crate::middle::liveness::{Liveness, written};
use crate::middle::program::{Item, Micro, Side, SignalRef, cell};
use crate::middle::scope::{RegisterFile, Symbols};
use npsim_image::TransferDirection;

/// The live ranges of all names, ascending for each.
pub struct LiveRanges {
    /// Ranges by cell: the IN and the OUT side of each variable.
    cells: Vec<Vec<LiveRange>>,
    /// Ranges by signal.
    pub signals: Vec<Vec<LiveRange>>,
}

impl LiveRanges {
    /// Derives the ranges from the data flow that allocation used.
    ///
    /// Allocation keeps cells apart that are occupied together after a word (`AllocationProblem` of
    /// `allocate/mod.rs`, from `occupied` of `middle/liveness.rs`), so at each point of these
    /// ranges a register has one name. Each word has two points, before and after it.
    ///
    /// `private` names and signals that are awaited at the program's start never share a number
    /// (`allocate/gprs.rs`, `allocate/signals.rs`): their range is the whole program.
    pub fn new(items: &[Item], symbols: &Symbols, groups: &Groups, liveness: &Liveness) -> Self {
        let mut cells = Tracks::new(symbols.variables.len() * 2);
        let mut signals = Tracks::new(symbols.signals.len());
        let words = items.iter().enumerate();
        let words = words.filter_map(|(i, item)| Some((i, item, item.micro()?)));
        let mut end = ProgramPoint::before(0);
        let mut kept = BitSet::default();
        let mut awaited = BitSet::default();
        for (address, (i, item, micro)) in words.enumerate() {
            let (before, after) = (
                ProgramPoint::before(address as u16),
                ProgramPoint::after(address as u16),
            );
            // A cell that a command still moves was occupied before this word too, unless this word
            // itself issued the command.
            kept.clone_from(&liveness.occupied[i]);
            for cell in written(item, symbols, groups) {
                kept.remove(cell);
            }
            kept.union_with(&liveness.live_in[i]);
            cells.step(before, &kept);
            cells.step(after, &liveness.occupied[i]);
            awaited.clone_from(&liveness.signals[i]);
            signals_before(micro, &mut awaited);
            signals.step(before, &awaited);
            signals.step(after, &liveness.signals[i]);
            end = after;
        }
        let whole = LiveRange {
            first: ProgramPoint::before(0),
            last: end,
        };
        let (mut cells, mut signals) = (cells.finish(end), signals.finish(end));
        // A register shared with no other name may be used externally at any time.
        for (id, variable) in symbols.variables.iter().enumerate() {
            if !variable.private || !variable.used {
                continue;
            }
            let transfer = matches!(variable.space, RegisterFile::S | RegisterFile::D);
            let sides = [
                (
                    Side::In,
                    !transfer || variable.direction != TransferDirection::Write,
                ),
                (
                    Side::Out,
                    transfer && variable.direction != TransferDirection::Read,
                ),
            ];
            for (side, has) in sides {
                cells[cell(id, side)] = if has { vec![whole] } else { Vec::new() };
            }
        }
        for (id, signal) in symbols.signals.iter().enumerate() {
            if signal.used && (signal.private || liveness.signals_at_entry.contains(id)) {
                signals[id] = vec![whole];
            }
        }
        Self { cells, signals }
    }

    /// Removes and returns the ranges of one side of a variable.
    pub fn take(&mut self, variable: usize, side: Side) -> Vec<LiveRange> {
        std::mem::take(&mut self.cells[cell(variable, side)])
    }
}

/// Changes the signals awaited or in flight after a word to those before it.
fn signals_before(micro: &Micro, before: &mut BitSet) {
    if let Some(SignalRef::Symbol(id)) = micro.completion.map(|used| used.signal) {
        before.remove(id);
    }
    for used in micro.waits.iter().chain(&micro.tested) {
        if let SignalRef::Symbol(id) = used.signal {
            before.insert(id);
        }
    }
}

/// Ranges under construction, from the numbers that are live at consecutive points.
struct Tracks {
    last: BitSet,
    before: ProgramPoint,
    open: Vec<ProgramPoint>,
    ranges: Vec<Vec<LiveRange>>,
}

impl Tracks {
    fn new(bound: usize) -> Self {
        let start = ProgramPoint::before(0);
        Self {
            last: BitSet::default(),
            before: start,
            open: vec![start; bound],
            ranges: vec![Vec::new(); bound],
        }
    }

    fn step(&mut self, point: ProgramPoint, alive: &BitSet) {
        let Self {
            last,
            before,
            open,
            ranges,
        } = self;
        last.follow(alive, |n, is_alive| {
            if is_alive {
                open[n] = point;
            } else {
                ranges[n].push(LiveRange {
                    first: open[n],
                    last: *before,
                });
            }
        });
        self.before = point;
    }

    fn finish(mut self, end: ProgramPoint) -> Vec<Vec<LiveRange>> {
        self.before = end;
        self.step(end, &BitSet::default());
        self.ranges
    }
}
