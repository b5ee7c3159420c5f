//! The interpreter's loop.
//!
//! Every operation leaves condition codes, its A operand and its result behind
//! for a later one to read. Where the next word in line overwrites all of that
//! unread, the operation is run in its quick form, which stores the destination
//! and nothing else.
//!
//! Finding what to do costs as much as doing it, so an operation that sets the codes is one
//! action with the branch behind it that reads them. Whoever comes to the branch from elsewhere
//! finds its own action there.
//!
//! Commands, context swaps and local CSRs are actions of the same loop. Along a line time is
//! kept by address alone; whoever needs the microengine's own cycle and address, as most of what
//! leaves its registers does, first leaves the line. The one before such an operation is never
//! quick, so whoever looks finds everything as if there were no quick forms.

use npsim_isa::csr;

use crate::action::{Action, with_actions};
use crate::datapath::result;
use crate::local_csr::timestamp_at;
use crate::local_memory::Index;
use crate::operation::{Kind, Op};
use crate::registers::{TEMP_A, TEMP_B, TEMP_D};
use crate::sender::Sender;
use crate::{Flow, Microengine, slow};
use npsim_chip::kernel::check::PATIENCE;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event;

macro_rules! interpreter_loop {
    (
        operations { $($kind:ident $whole:ident;)* }
        owned { $($moved:ident $owned:ident $tested:ident;)* }
        alone { $($alone:ident)* }
        branches { $($branch:ident)* }
        decided { $($test:ident $way:ident $decided:ident;)* }
    ) => {
        impl Microengine {
            /// Executes from the present instruction on until the turn is over, or until
            /// something keeps the next instruction from this loop.
            #[inline(always)]
            #[allow(clippy::inline_always)] // It is the body of a turn.
            pub(crate) fn interpret<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> Flow {
                // Most turns begin with the poll before which the one before had to end.
                let mut refused = self.refused.take();
                'again: while self.is_quick() {
                    // A command in line gives no reason to ask again, and the limit lies farther ahead
                    // than the program is long.
                    'on: loop {
                        let poll = 'poll: {
                            if let Some(refused) = refused.take() {
                                break 'poll refused;
                            }
                            let (me, from, cycle) =
                                (self.index, usize::from(self.pc), self.cycle);
                            let Self {
                                lanes, datapath, memory, claims, contexts, thrown, line, stats, mode, entered,
                                slow: pending, calm, bark, timing, timestamp, timestamp_set, csr_value, ..
                            } = &mut *self;
                            let ops = lanes[usize::from(datapath.context) & 7].ops();
                            let Some(words) = ops.get(from..) else {
                                return self.no_instruction(fabric);
                            };
                            let mut rest = words.iter();
                            line.begin::<OBSERVED>(from, cycle);
                            // The address of the operation that was taken last.
                            macro_rules! here {
                                () => {
                                    ops.len() - rest.len() - 1
                                };
                            }
                            // The one there keeps the loop from going on.
                            macro_rules! apart {
                                () => {{
                                    let at = here!();
                                    self.leave_line::<OBSERVED>(at, fabric);
                                    match self.step_apart::<OBSERVED>(fabric) {
                                        Flow::Continue => continue 'again,
                                        other => return other,
                                    }
                                }};
                            }
                            // Writes of its pointer that are due take effect before the one there, which is
                            // looked at again; while one is on its way it is not for the loop.
                            macro_rules! settle {
                                ($pointer:ident) => {{
                                    let at = here!();
                                    self.leave_at::<OBSERVED>(at, fabric);
                                    self.settle_until(self.cycle);
                                    if !self.memory.awaits($pointer) {
                                        continue 'again;
                                    }
                                    match self.step_apart::<OBSERVED>(fabric) {
                                        Flow::Continue => continue 'again,
                                        other => return other,
                                    }
                                }};
                            }
                            'line: loop {
                                let Some(op) = rest.next() else {
                                    let end = ops.len();
                                    self.leave_line::<OBSERVED>(end, fabric);
                                    return self.no_instruction(fabric);
                                };
                                // All quick operations end in the same place, and taken branches in another.
                                let branch = 'taken: {
                                    let value = match op.action {
                                        Action::Stop => apart!(),
                                        Action::Command => {
                                            let (number, a, b) = (op.x, op.a, op.b);
                                            let address = datapath.get(a).wrapping_add(datapath.get(b));
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            break 'poll Poll { does: Polls::Command, what: number, with: address };
                                        }
                                        Action::GiveUp => {
                                            let (mask, defer) = (op.x, op.n);
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            break 'poll Poll { does: Polls::GiveUp, what: mask, with: u32::from(defer) };
                                        }
                                        Action::CsrSend => {
                                            let (csr, value) = (op.x as u16, datapath.get(op.a));
                                            let at = here!();
                                            let now = line.cycle_of(at);
                                            if *pending == 0 && now >= fabric.events.next_time() && now != *entered {
                                                let number = datapath.context & 7;
                                                let sender = Sender {
                                                    me,
                                                    number,
                                                    context: &mut contexts[number],
                                                    mode: *mode,
                                                    delay: timing.signal,
                                                    step: timing.timestamp,
                                                    timestamp: (*timestamp, *timestamp_set),
                                                    now,
                                                };
                                                if sender.write_ahead((csr, at as u16), value, fabric) {
                                                    *bark = now + PATIENCE;
                                                    continue 'line;
                                                }
                                            }
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            break 'poll Poll { does: Polls::CsrWrite, what: u32::from(csr), with: value };
                                        }
                                        Action::PointerWrite if !OBSERVED && *pending == 0 => {
                                            let now = line.cycle_of(here!());
                                            let second = op.x as u16 == csr::ACTIVE_LM_ADDR_1;
                                            let pointer = Index::Pointer(u8::from(second));
                                            let words = datapath.get(op.a) >> 2 & 1023;
                                            memory.write(pointer, words, now, timing.lm_addr_gap);
                                            *pending = slow::PENDING;
                                            continue 'line;
                                        }
                                        Action::CsrWrite | Action::PointerWrite => {
                                            let (csr, value) = (op.x as u16, datapath.get(op.a));
                                            let polls = op.marks & Op::POLLS != 0;
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            if polls {
                                                break 'poll Poll { does: Polls::CsrWrite, what: u32::from(csr), with: value };
                                            }
                                            match self.csr_written::<OBSERVED>(csr, value, fabric) {
                                                Ok(()) => continue 'again,
                                                Err(flow) => return flow,
                                            }
                                        }
                                        Action::Ring => {
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            break 'poll Poll { does: Polls::Ring, what: 0, with: 0 };
                                        }
                                        Action::Poll => {
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            break 'poll Poll { does: Polls::Other, what: 0, with: 0 };
                                        }
                                        Action::Clock if !OBSERVED => {
                                            let at = here!();
                                            let Some(next) = rest.next() else { apart!() };
                                            let now = line.cycle_of(at);
                                            *bark = now + PATIENCE;
                                            fabric.clock_readings += u64::from(op.n);
                                            let time = timestamp_at((*timestamp, *timestamp_set), now, timing.timestamp) as u32;
                                            *csr_value = time;
                                            datapath.plain(next, 0, time);
                                            continue 'line;
                                        }
                                        Action::CsrRead | Action::Clock => {
                                            let csr = op.x as u16;
                                            let at = here!();
                                            self.leave_line::<OBSERVED>(at, fabric);
                                            if self.slow != 0 {
                                                self.settle_until(self.cycle);
                                            }
                                            match self.csr_read::<OBSERVED>(csr, fabric) {
                                                Ok(()) => continue 'again,
                                                Err(flow) => return flow,
                                            }
                                        }
                                        Action::Owned => {
                                            if claims.owns(op.a) || claims.owns(op.b) || claims.owns(op.d) {
                                                apart!();
                                            }
                                            datapath.operate_apart(op);
                                            continue 'line;
                                        }
                                        Action::Move => {
                                            if claims.owns(op.b) || claims.owns(op.d) {
                                                apart!();
                                            }
                                            datapath.operate_as(Kind::B, op);
                                            continue 'line;
                                        }
                                        $(
                                            Action::$owned => {
                                                if claims.owns(op.$tested) {
                                                    apart!();
                                                }
                                                datapath.operate_as(Kind::$moved, op);
                                                continue 'line;
                                            }
                                        )*
                                        $(
                                            Action::$alone => {
                                                datapath.operate_as(Kind::$alone, op);
                                                continue 'line;
                                            }
                                        )*
                                        Action::Datapath => {
                                            datapath.operate_apart(op);
                                            continue 'line;
                                        }
                                        Action::Local => {
                                            let at = here!();
                                            match self.local_apart::<OBSERVED>(at, fabric) {
                                                Flow::Continue => continue 'again,
                                                other => return other,
                                            }
                                        }
                                        Action::LocalWord => {
                                            if OBSERVED && fabric.journal.wants(trace_event::Kind::LocalMemory) {
                                                apart!();
                                            }
                                            let pointer = Index::Pointer(op.word_there().0);
                                            if *pending != 0 && memory.awaits(pointer) {
                                                settle!(pointer);
                                            }
                                            let Some(word) = memory.word_at(op.word_there()) else {
                                                apart!();
                                            };
                                            // Which operands it is shows in the slots.
                                            if op.a == TEMP_A {
                                                datapath.put(TEMP_A, *word);
                                            }
                                            if op.b == TEMP_B {
                                                datapath.put(TEMP_B, *word);
                                            }
                                            match op.kind {
                                                $(Kind::$kind => datapath.operate_as(Kind::$kind, op),)*
                                                _ => datapath.operate_apart(op),
                                            }
                                            if op.d == TEMP_D {
                                                *word = datapath.get(TEMP_D);
                                            }
                                            continue 'line;
                                        }
                                        Action::OwnedBranch => {
                                            // The other fields of a branch are no slots.
                                            if claims.owns(op.b) {
                                                apart!();
                                            }
                                            let taken = match op.kind {
                                                Kind::BrBitSet => datapath.decides(Kind::BrBitSet, op),
                                                Kind::BrBitClear => datapath.decides(Kind::BrBitClear, op),
                                                _ => datapath.condition(op),
                                            };
                                            if !taken {
                                                continue 'line;
                                            }
                                            break 'taken op;
                                        }
                                        $(
                                            Action::$whole => {
                                                datapath.operate_as(Kind::$kind, op);
                                                continue 'line;
                                            }
                                            Action::$kind => {
                                                let (x, y) = (datapath.get(op.a), datapath.get(op.b));
                                                result(Kind::$kind, (op.n, op.x), x, y, datapath.get(op.y))
                                            }
                                        )*
                                        $(
                                            Action::$branch => {
                                                if !datapath.decides(Kind::$branch, op) {
                                                    continue 'line;
                                                }
                                                break 'taken op;
                                            }
                                        )*
                                        $(
                                            Action::$decided => {
                                                let Some(branch) = rest.next() else { apart!() };
                                                if !datapath.operate_and_decide((Kind::$test, op), Kind::$way) {
                                                    continue 'line;
                                                }
                                                break 'taken branch;
                                            }
                                        )*
                                    };
                                    datapath.put(op.d, value);
                                    continue 'line;
                                };
                                let at = here!();
                                let target = usize::from(branch.d);
                                macro_rules! take {
                                    ($slots:expr) => {
                                        stats.aborted += if OBSERVED {
                                            let (who, journal) = ((me, datapath.context), &mut fabric.journal);
                                            line.branch_in_sight((branch, at), $slots, who, (journal, thrown))
                                        } else {
                                            line.branch((branch, at), $slots, thrown)
                                        }
                                    };
                                }
                                if branch.n == 0 {
                                    take!((0, false));
                                } else {
                                    let slots = usize::from(branch.n);
                                    let deferred = rest.as_slice().get(..slots);
                                    let Some(plain) = deferred.filter(|it| it.iter().all(Op::is_plain)) else {
                                        match self.branch_apart::<OBSERVED>(at, fabric) {
                                            Flow::Continue => continue 'again,
                                            other => return other,
                                        }
                                    };
                                    take!((slots, datapath.operate_each(plain)));
                                }
                                rest = ops[target..].iter();
                                if line.arrived >= *calm {
                                    self.leave_line::<OBSERVED>(target, fabric);
                                    continue 'again;
                                }
                            }
                        };
                        if !self.may_poll(fabric) {
                            self.refused = Some(poll);
                            fabric.events.post_again(self.cycle, self.index);
                            return Flow::Over;
                        }
                        let defer = match poll.does {
                            Polls::Command => {
                                let swap = match self.template_command(poll.what, poll.with, fabric) {
                                    Ok(swap) => swap,
                                    Err(flow) => return flow,
                                };
                                self.took_a_cycle::<OBSERVED>(fabric);
                                let Some(swap) = swap else {
                                    self.pc += 1;
                                    continue 'on;
                                };
                                swap.slots()
                            }
                            Polls::GiveUp => {
                                if poll.what & Op::KEEP_MASK == 0 {
                                    self.waits_for(poll.what as u16, poll.what & Op::ANY != 0);
                                }
                                self.took_a_cycle::<OBSERVED>(fabric);
                                poll.with as u8
                            }
                            Polls::CsrWrite => {
                                match self.csr_written::<OBSERVED>(poll.what as u16, poll.with, fabric) {
                                    Ok(()) => continue 'again,
                                    Err(flow) => return flow,
                                }
                            }
                            Polls::Ring => {
                                self.ring_step::<OBSERVED>(fabric);
                                continue 'again;
                            }
                            Polls::Other => match self.direct::<OBSERVED>(fabric) {
                                Flow::Continue => continue 'again,
                                other => return other,
                            },
                        };
                        if defer != 0 {
                            self.yields(defer, None);
                            continue 'again;
                        }
                        self.yielded();
                        if !self.swap_for::<OBSERVED>(self.timing.swap, fabric) {
                            return Flow::Over;
                        }
                        continue 'again;
                    }
                }
                Flow::Continue
            }
        }
    };
}

with_actions!(interpreter_loop);

/// What a poll does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)] // As wide as what is beside it: else what lies between is copied by bytes.
enum Polls {
    /// It issues a command: its number in the program, and the address.
    Command,
    /// The context gives up the pipeline: [`Op::x`] of a [`Kind::Arb`], and its defer slots.
    GiveUp,
    /// It writes a local CSR: which, and the value.
    CsrWrite,
    /// It puts a word on a next-neighbour ring or takes one off.
    Ring,
    /// It is seldom, and takes what it needs when it executes.
    Other,
}

/// A poll with all that it takes from registers, which nobody changes before it executes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll {
    does: Polls,
    what: u32,
    with: u32,
}

impl Microengine {
    /// Whether the next instruction is one for the loop: no reason for the attentive path
    /// holds but writes of local memory's pointers that are on their way, and the program's
    /// length in cycles lies before the limit.
    #[inline]
    pub(crate) fn is_quick(&self) -> bool {
        self.cycle < self.calm && (self.slow == 0 || self.is_quick_meanwhile())
    }

    /// The same where there is a reason for the attentive path.
    #[cold]
    #[inline(never)]
    fn is_quick_meanwhile(&self) -> bool {
        // For a write of `BYTE_INDEX` operations of registers alone look.
        self.slow == slow::PENDING && !self.memory.awaits(Index::Byte)
    }

    /// The line is left before the instruction at an address, which is the present one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the loop.
    pub(crate) fn leave_line<const OBSERVED: bool>(&mut self, at: usize, fabric: &mut Fabric) {
        self.leave_at::<OBSERVED>(at, fabric);
        self.settle_before();
    }

    /// Lets writes of index registers take effect as far as the last instruction would have done
    /// that, if it was not one for the loop.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the loop.
    pub(crate) fn settle_before(&mut self) {
        if self.slow != 0 {
            self.settle_until(self.thrown.before(self.cycle));
        }
    }

    /// The same but for what is due.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the loop.
    pub(crate) fn leave_at<const OBSERVED: bool>(&mut self, at: usize, fabric: &mut Fabric) {
        if OBSERVED {
            let who = (self.index, self.datapath.context);
            self.line.tell(who, at, &mut fabric.journal);
        }
        self.pc = at as u16;
        self.cycle = self.line.cycle_of(at);
    }

    /// Whether the present instruction may poll; then what is due in its cycle takes effect.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the loop.
    fn may_poll(&mut self, fabric: &mut Fabric) -> bool {
        if !self.is_final(self.cycle, fabric) {
            return false;
        }
        self.bark = self.cycle + PATIENCE;
        if self.slow != 0 {
            self.settle_until(self.cycle);
        }
        true
    }

    /// The present instruction has operands on next-neighbour rings, and its registers are
    /// known to be initialised.
    #[inline(never)]
    fn ring_step<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) {
        let at = usize::from(self.pc);
        let op = self.lane().ops()[at];
        // As on the attentive path, which says what is left in a state.
        for (slot, place) in [(op.a, TEMP_A), (op.b, TEMP_B)] {
            if slot == place {
                let head = self.ring_head(fabric);
                self.datapath.put(place, head);
            }
        }
        self.datapath.operate_apart(&op);
        self.took_a_cycle::<OBSERVED>(fabric);
        self.finish_specials(at, fabric);
        self.pc += 1;
    }

    /// The present instruction writes a local CSR.
    #[inline]
    fn csr_written<const OBSERVED: bool>(
        &mut self,
        csr: u16,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Flow> {
        self.write_csr(csr, value, fabric)?;
        self.took_a_cycle::<OBSERVED>(fabric);
        self.pc += 1;
        Ok(())
    }

    /// The present instruction reads a local CSR: the next word, an `immed`, gets its value.
    /// Where nothing else is to be done there, it executes at once.
    #[inline(never)]
    pub(crate) fn csr_read<const OBSERVED: bool>(
        &mut self,
        csr: u16,
        fabric: &mut Fabric,
    ) -> Result<(), Flow> {
        self.csr_value = self.read_csr(csr, fabric)?;
        self.took_a_cycle::<OBSERVED>(fabric);
        self.pc += 1;
        let next = self.lane().ops().get(usize::from(self.pc)).copied();
        match next.filter(Op::only_loads) {
            Some(op) if self.slow == 0 && self.cycle < self.limit => {
                self.datapath.plain(&op, 0, self.csr_value);
                self.took_a_cycle::<OBSERVED>(fabric);
                self.pc += 1;
            }
            _ => self.slow |= slow::CSR,
        }
        Ok(())
    }
}
