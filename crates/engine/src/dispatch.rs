//! The dispatch loop, which executes operations in line on the microengine's own time, with one
//! handler each.
//!
//! Within a block, time follows from the address alone
//! ([`BlockTiming`](crate::block::BlockTiming)): `pc` and `cycle` of the microengine remain those
//! of the place where the loop began, until an exit updates (*synchronises*) them. The state left
//! by each exit:
//!
//! | exit | `pc`, `cycle` | writes of index registers | then |
//! | --- | --- | --- | --- |
//! | an operation needs the slow path | synchronised | those due before it are committed | [`step_slow`](Microengine::step_slow), then the loop again |
//! | local memory, or defer slots that are not all plain | left to `loop_exits` | left to `loop_exits` | the loop again |
//! | a pointer in use is still being written | synchronised | those due in its cycle are committed | the operation again, or the slow path |
//! | a local CSR of the context's own | synchronised | committed before a read | the access, then the loop again |
//! | a synchronisation point | synchronised | those due before it are committed | [`at_sync_point`](Microengine::at_sync_point): executes now, or begins the next turn |
//! | the limit is near (at taken branches only) | synchronised | those due before it are committed | the loop's condition |
//! | the program's end | synchronised | those due before it are committed | a fault |
//!
//! Every operation before an exit has executed completely: its *dead* handler is chosen only if a
//! plain operation follows it. The registers after an exit are therefore the same as if operations
//! were executed one by one.

use npsim_chip::kernel::check::WATCHDOG_CYCLES;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::trace_event;
use npsim_isa::csr;

use crate::datapath::{Datapath, result_of};
use crate::local_memory::PendingIndex;
use crate::microengine::{LoopExit, Microengine, slow};
use crate::operation::Op;
use crate::pending_sync::{SyncOp, SyncPoint};
use crate::posted_writes::PostedWrite;
use crate::registers::{TEMP_A, TEMP_B, TEMP_D};
use crate::scoreboard::Scoreboard;
use crate::timing::timestamp_at;
use crate::uop::{Handler, TransferSlot, UopKind, with_uops};

/// How the execution of blocks ended.
enum BlockExit {
    /// Before a synchronisation point.
    Sync(SyncPoint),
    /// The loop continues if its condition holds.
    Resume,
    /// The loop is over.
    Exit(LoopExit),
}

impl From<LoopExit> for BlockExit {
    #[inline(always)]
    fn from(exit: LoopExit) -> Self {
        match exit {
            LoopExit::Continue => Self::Resume,
            other => Self::Exit(other),
        }
    }
}

/// The result of an operation. The loop matches once on the handler, in `run_row`, and here on the
/// result of each arm, which is a constant there: the compiler merges both into one jump.
enum HandlerResult<'a> {
    /// The next word follows.
    Next,
    /// The branch is taken.
    Taken(&'a Op),
    /// A transfer register of the operation is reserved.
    Reserved,
    // The operation has not executed, since its handler needs more than registers.
    Slow,
    Command,
    Yield,
    Ring,
    Sync,
    CsrPost,
    PointerWrite,
    CsrWrite,
    Clock,
    CsrRead,
    LocalMemory,
    LocalWord,
}

impl Microengine {
    /// Executes from the present instruction on until the turn is over, or until something keeps
    /// the next instruction from this loop.
    #[inline(always)]
    pub(crate) fn interpret<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> LoopExit {
        // Most turns begin with the synchronisation point that ended the previous one.
        let mut pending = self.pending_sync.take();
        'resume: while self.is_fast() {
            // A command in line does not require another test: the limit is farther ahead than the
            // program is long.
            loop {
                let point = match pending.take() {
                    Some(point) => point,
                    None => match self.run_blocks::<OBSERVED>(fabric) {
                        BlockExit::Sync(point) => point,
                        BlockExit::Resume => continue 'resume,
                        BlockExit::Exit(exit) => return exit,
                    },
                };
                if !self.at_sync_point(fabric) {
                    self.pending_sync = Some(point);
                    fabric.events.post_next_turn(self.cycle, self.index);
                    return LoopExit::Over;
                }
                match self.synchronise::<OBSERVED>(point, fabric) {
                    Ok(true) => {}
                    Ok(false) => continue 'resume,
                    Err(exit) => return exit,
                }
            }
        }
        LoopExit::Continue
    }

    /// Executes blocks, starting at the present instruction.
    #[inline(always)]
    fn run_blocks<const OBSERVED: bool>(&mut self, fabric: &mut Fabric) -> BlockExit {
        let (me, from, cycle) = (self.index, usize::from(self.pc), self.cycle);
        let Self {
            bound,
            datapath,
            memory,
            scoreboard,
            contexts,
            aborted_slots,
            block,
            stats,
            mode,
            turn_start,
            slow: pending,
            fast_until,
            watchdog_at,
            timing,
            timestamp,
            timestamp_set,
            csr_value,
            ..
        } = &mut *self;
        let ops = bound[datapath.context.index()].ops();
        let Some(words) = ops.get(from..) else {
            return self.no_instruction(fabric).into();
        };
        let mut rest = words.iter();
        block.begin::<OBSERVED>(from, cycle);
        // The address of the operation that was taken last.
        macro_rules! here {
            () => {
                ops.len() - rest.len() - 1
            };
        }
        // Leaves the current operation to the slow path.
        macro_rules! slow_path {
            () => {{
                let at = here!();
                self.sync_pc::<OBSERVED>(at, fabric);
                return self.step_slow::<OBSERVED>(fabric).into();
            }};
        }
        // Stops at the current operation, a synchronisation point.
        macro_rules! sync {
            ($does:ident, $what:expr, $with:expr) => {{
                let (what, with, at) = ($what, $with, here!());
                self.sync_pc::<OBSERVED>(at, fabric);
                let does = SyncOp::$does;
                return BlockExit::Sync(SyncPoint { does, what, with });
            }};
        }
        loop {
            let Some(op) = rest.next() else {
                let end = ops.len();
                self.sync_pc::<OBSERVED>(end, fabric);
                return self.no_instruction(fabric).into();
            };
            let branch = match run_row(op, datapath, scoreboard, &mut rest) {
                HandlerResult::Next => continue,
                HandlerResult::Taken(branch) => branch,
                HandlerResult::Reserved | HandlerResult::Slow => slow_path!(),
                HandlerResult::Command => sync!(
                    Command,
                    op.x,
                    datapath.get(op.a).wrapping_add(datapath.get(op.b))
                ),
                HandlerResult::Yield => sync!(Yield, op.x, u32::from(op.n)),
                HandlerResult::Ring => sync!(Ring, 0, 0),
                HandlerResult::Sync => sync!(Other, 0, 0),
                HandlerResult::CsrPost => {
                    let (csr, value) = (op.x as u16, datapath.get(op.a));
                    let at = here!();
                    let now = block.cycle_of(at);
                    if *pending == 0 && now >= fabric.events.next_time() && now != *turn_start {
                        let write = PostedWrite {
                            me,
                            context: datapath.context,
                            thread: &mut contexts[datapath.context],
                            mode: *mode,
                            delay: timing.signal,
                            step: timing.timestamp,
                            timestamp: (*timestamp, *timestamp_set),
                            now,
                        };
                        if write.post_early((csr, at as u16), value, fabric) {
                            *watchdog_at = now + WATCHDOG_CYCLES;
                            continue;
                        }
                    }
                    sync!(CsrWrite, u32::from(csr), value)
                }
                HandlerResult::PointerWrite if !OBSERVED && *pending == 0 => {
                    let now = block.cycle_of(here!());
                    let second = op.x as u16 == csr::ACTIVE_LM_ADDR_1;
                    let pointer = PendingIndex::Pointer(u8::from(second));
                    let words = datapath.get(op.a) >> 2 & 1023;
                    memory.write(pointer, words, now, timing.lm_addr_gap);
                    *pending = slow::PENDING;
                    continue;
                }
                HandlerResult::CsrWrite | HandlerResult::PointerWrite => {
                    let (csr, value) = (op.x as u16, datapath.get(op.a));
                    if op.flags & Op::SYNCS != 0 {
                        sync!(CsrWrite, u32::from(csr), value);
                    }
                    let at = here!();
                    self.sync_pc::<OBSERVED>(at, fabric);
                    return match self.csr_written::<OBSERVED>(csr, value, fabric) {
                        Ok(()) => BlockExit::Resume,
                        Err(exit) => BlockExit::Exit(exit),
                    };
                }
                HandlerResult::Clock if !OBSERVED => {
                    let at = here!();
                    let Some(next) = rest.next() else {
                        slow_path!()
                    };
                    let now = block.cycle_of(at);
                    *watchdog_at = now + WATCHDOG_CYCLES;
                    fabric.clock_readings += u64::from(op.n);
                    let set = (*timestamp, *timestamp_set);
                    let time = timestamp_at(set, now, timing.timestamp) as u32;
                    *csr_value = time;
                    datapath.plain(next, 0, time);
                    continue;
                }
                HandlerResult::CsrRead | HandlerResult::Clock => {
                    let csr = op.x as u16;
                    let at = here!();
                    self.sync_pc::<OBSERVED>(at, fabric);
                    if self.slow != 0 {
                        self.commit_index_writes(self.cycle);
                    }
                    return match self.csr_read::<OBSERVED>(csr, fabric) {
                        Ok(()) => BlockExit::Resume,
                        Err(exit) => BlockExit::Exit(exit),
                    };
                }
                HandlerResult::LocalMemory => {
                    let at = here!();
                    return self.local_memory_slow::<OBSERVED>(at, fabric).into();
                }
                HandlerResult::LocalWord => {
                    if OBSERVED && fabric.trace.wants(trace_event::TraceEventKind::LocalMemory) {
                        slow_path!();
                    }
                    let pointer = PendingIndex::Pointer(op.known_word().0);
                    if *pending != 0 && memory.awaits(pointer) {
                        let at = here!();
                        return self.await_pointer::<OBSERVED>(at, pointer, fabric);
                    }
                    let Some(word) = memory.word_at(op.known_word()) else {
                        slow_path!()
                    };
                    datapath.execute_on_word(word, op);
                    continue;
                }
            };
            let at = here!();
            let target = usize::from(branch.d);
            macro_rules! take {
                ($slots:expr) => {
                    stats.aborted += if OBSERVED {
                        let (who, trace) = ((me, datapath.context), &mut fabric.trace);
                        block.branch_observed((branch, at), $slots, who, (trace, aborted_slots))
                    } else {
                        block.branch((branch, at), $slots, aborted_slots)
                    }
                };
            }
            if branch.n == 0 {
                take!((0, false));
            } else {
                let slots = usize::from(branch.n);
                let deferred = rest.as_slice().get(..slots);
                let Some(plain) = deferred.filter(|it| it.iter().all(Op::is_plain)) else {
                    return self.branch_slow::<OBSERVED>(at, fabric).into();
                };
                take!((slots, datapath.execute_each(plain)));
            }
            rest = ops[target..].iter();
            if block.arrived >= *fast_until {
                self.sync_pc::<OBSERVED>(target, fabric);
                return BlockExit::Resume;
            }
        }
    }

    /// Handles an operation that uses a local memory pointer with a pending write: commits the
    /// writes that are due, and leaves the operation to the slow path if that one is not.
    #[inline(always)]
    fn await_pointer<const OBSERVED: bool>(
        &mut self,
        at: usize,
        pointer: PendingIndex,
        fabric: &mut Fabric,
    ) -> BlockExit {
        self.sync_pc_only::<OBSERVED>(at, fabric);
        self.commit_index_writes(self.cycle);
        if !self.memory.awaits(pointer) {
            return BlockExit::Resume;
        }
        self.step_slow::<OBSERVED>(fabric).into()
    }

    /// Whether the loop may execute the next instruction: nothing but pending writes of local
    /// memory pointers requires the slow path, and the limit is farther away than the program's
    /// length in cycles.
    #[inline]
    pub(crate) fn is_fast(&self) -> bool {
        self.cycle < self.fast_until && (self.slow == 0 || self.is_fast_with_index_writes())
    }

    /// [`Self::is_fast`] if something requires the slow path.
    #[cold]
    #[inline(never)]
    fn is_fast_with_index_writes(&self) -> bool {
        // Operations on registers alone may read `BYTE_INDEX`.
        self.slow == slow::PENDING && !self.memory.awaits(PendingIndex::Byte)
    }

    /// Sets `pc` and `cycle` to those of the instruction at an address of the block, before which
    /// the loop stops, and commits what the previous instruction would have committed outside of
    /// the loop.
    #[inline(always)]
    pub(crate) fn sync_pc<const OBSERVED: bool>(&mut self, at: usize, fabric: &mut Fabric) {
        self.sync_pc_only::<OBSERVED>(at, fabric);
        if self.slow != 0 {
            self.commit_index_writes(self.aborted_slots.before(self.cycle));
        }
    }

    /// [`Self::sync_pc`] without commits.
    #[inline(always)]
    pub(crate) fn sync_pc_only<const OBSERVED: bool>(&mut self, at: usize, fabric: &mut Fabric) {
        if OBSERVED {
            let who = (self.index, self.datapath.context);
            self.block.trace(who, at, &mut fabric.trace);
        }
        self.pc = at as u16;
        self.cycle = self.block.cycle_of(at);
    }
}

macro_rules! rows {
    (
        values { $($value:ident $live:ident $dead:ident $([$xfer:ident $slot:ident])?:
            $result:expr, $codes:expr;)* }
        moves { $($move:ident $move_live:ident $move_dead:ident $([$move_xfer:ident $move_slot:ident])?:
            $moved:expr, $port:expr;)* }
        functions { $($(#[$fn_doc:meta])* $function:ident: $call:ident $(, $fn_live:ident)?
            $([$fn_xfer:ident $fn_slot:ident])?;)* }
        branches { $($(#[$br_doc:meta])* $branch:ident: $taken:expr;)* }
        control { $($(#[$ctl_doc:meta])* $control:ident;)* }
        fused { $($test:ident $way:ident $fused:ident;)* }
    ) => {
        /// Executes an operation by its handler, if that needs only registers.
        #[inline(always)]
        fn run_row<'a>(
            op: &'a Op,
            datapath: &mut Datapath,
            scoreboard: &Scoreboard,
            rest: &mut std::slice::Iter<'a, Op>,
        ) -> HandlerResult<'a> {
            macro_rules! scoreboarded {
                ($kind:ident $field:ident) => {{
                    if scoreboard.is_reserved(op.slot(TransferSlot::$field)) {
                        return HandlerResult::Reserved;
                    }
                    datapath.execute_as(UopKind::$kind, op);
                    return HandlerResult::Next;
                }};
            }
            // All dead handlers share the code at the end.
            let value = match op.handler {
                $(
                    Handler::$live => {
                        datapath.execute_as(UopKind::$value, op);
                        return HandlerResult::Next;
                    }
                    Handler::$dead => result_of($result, datapath.inputs(op)),
                    $(Handler::$xfer => scoreboarded!($value $slot),)?
                )*
                $(
                    Handler::$move_live => {
                        datapath.execute_as(UopKind::$move, op);
                        return HandlerResult::Next;
                    }
                    Handler::$move_dead => result_of($moved, datapath.inputs(op)),
                    $(Handler::$move_xfer => scoreboarded!($move $move_slot),)?
                )*
                $(
                    $(
                        Handler::$fn_live => {
                            datapath.execute_as(UopKind::$function, op);
                            return HandlerResult::Next;
                        }
                    )?
                    $(Handler::$fn_xfer => scoreboarded!($function $fn_slot),)?
                )*
                $(
                    Handler::$branch => {
                        let taken = datapath.is_taken(UopKind::$branch, op);
                        return if taken { HandlerResult::Taken(op) } else { HandlerResult::Next };
                    }
                )*
                $(
                    Handler::$fused => {
                        let taken = datapath.execute_and_branch((UopKind::$test, op), UopKind::$way);
                        // The second operation always exists, since pairs consist of neighbours.
                        return match rest.next() {
                            Some(branch) if taken => HandlerResult::Taken(branch),
                            _ => HandlerResult::Next,
                        };
                    }
                )*
                Handler::Move => {
                    if scoreboard.is_reserved(op.b) || scoreboard.is_reserved(op.d) {
                        return HandlerResult::Reserved;
                    }
                    datapath.execute_as(UopKind::B, op);
                    return HandlerResult::Next;
                }
                Handler::Scoreboarded => {
                    if scoreboard.has_any_of(op) {
                        return HandlerResult::Reserved;
                    }
                    datapath.execute_outlined(op);
                    return HandlerResult::Next;
                }
                Handler::ScoreboardedBranch => {
                    // The other fields of a branch are not slots.
                    if scoreboard.is_reserved(op.b) {
                        return HandlerResult::Reserved;
                    }
                    let taken = match op.kind {
                        UopKind::BrBitSet => datapath.is_taken(UopKind::BrBitSet, op),
                        UopKind::BrBitClear => datapath.is_taken(UopKind::BrBitClear, op),
                        _ => datapath.condition(op),
                    };
                    return if taken { HandlerResult::Taken(op) } else { HandlerResult::Next };
                }
                Handler::Alu => {
                    datapath.execute_outlined(op);
                    return HandlerResult::Next;
                }
                Handler::Slow => return HandlerResult::Slow,
                Handler::Command => return HandlerResult::Command,
                Handler::Yield => return HandlerResult::Yield,
                Handler::Ring => return HandlerResult::Ring,
                Handler::Sync => return HandlerResult::Sync,
                Handler::CsrPost => return HandlerResult::CsrPost,
                Handler::PointerWrite => return HandlerResult::PointerWrite,
                Handler::CsrWrite => return HandlerResult::CsrWrite,
                Handler::Clock => return HandlerResult::Clock,
                Handler::CsrRead => return HandlerResult::CsrRead,
                Handler::LocalMemory => return HandlerResult::LocalMemory,
                Handler::LocalWord => return HandlerResult::LocalWord,
            };
            datapath.put(op.d, value);
            HandlerResult::Next
        }

        impl Datapath {
            /// Executes an operation of which one or more operands, identified by their slots, are
            /// the same word of local memory, and the others are registers.
            #[inline(always)]
            fn execute_on_word(&mut self, word: &mut u32, op: &Op) {
                if op.a == TEMP_A {
                    self.put(TEMP_A, *word);
                }
                if op.b == TEMP_B {
                    self.put(TEMP_B, *word);
                }
                match op.kind {
                    $(UopKind::$value => self.execute_as(UopKind::$value, op),)*
                    $(UopKind::$move => self.execute_as(UopKind::$move, op),)*
                    _ => self.execute_outlined(op),
                }
                if op.d == TEMP_D {
                    *word = self.get(TEMP_D);
                }
            }
        }
    };
}

with_uops!(rows);
