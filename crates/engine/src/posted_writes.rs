//! Writes of local CSRs that only set a timer or raise a signal: their effect is an event at a
//! later cycle, whose place among others does not depend on when it is posted. A microengine that
//! runs ahead of the chip therefore need not wait to execute them.

use npsim_image::ContextMode;
use npsim_isa::{Context, csr};

use crate::context::Thread;
use crate::csr_order::sets_timer;
use crate::microengine::Microengine;
use crate::timing::timestamp_at;
use npsim_chip::Cycle;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::signal_source::SignalSource;

/// A context that executes such a write.
pub(crate) struct PostedWrite<'a> {
    pub me: u8,
    pub context: Context,
    pub thread: &'a mut Thread,
    pub mode: ContextMode,
    /// Cycles until a signal arrives, and cycles per step of `TIMESTAMP`.
    pub delay: Cycle,
    pub step: Cycle,
    /// A value of `TIMESTAMP`, and the cycle at which it had that value.
    pub timestamp: (u64, Cycle),
    /// The cycle of the write.
    pub now: Cycle,
}

impl PostedWrite<'_> {
    /// [`Self::write`] ahead of the chip. Returns false, with nothing written, in three cases: the
    /// write sets a timer again that may fire before; its signal would arrive in the present cycle,
    /// where the order of the microengines' turns matters; or the event would lie too far ahead.
    #[inline(never)]
    pub fn post_early(self, (csr, pc): (u16, u16), value: u32, fabric: &mut Fabric) -> bool {
        let due = self.thread.timer_due;
        let stands = if sets_timer(csr) {
            due.is_none_or(|due| due > self.now)
        } else {
            self.delay != 0
        };
        // Otherwise a loop of such writes could fill the queue.
        let goes = stands && fabric.events.is_in_wheel(self.now);
        if goes {
            self.write((csr, pc), value, fabric);
        }
        goes
    }

    /// Executes the write of a CSR that [only posts](crate::csr_order::only_posts), by the
    /// instruction at an address.
    #[inline(always)]
    pub fn write(mut self, (csr, pc): (u16, u16), value: u32, fabric: &mut Fabric) {
        let to = match csr {
            csr::ACTIVE_CTX_FUTURE_COUNT => {
                self.thread.future_count = value as u16;
                return self.arm_timer(fabric);
            }
            csr::ACTIVE_FUTURE_COUNT_SIGNAL => {
                self.thread.future_signal = value as u8 & 15;
                return self.arm_timer(fabric);
            }
            csr::NEXT_NEIGHBOR_SIGNAL => self.me.checked_add(1),
            csr::PREV_NEIGHBOR_SIGNAL => self.me.checked_sub(1),
            _ => Some(self.me),
        };
        if let Some(to) = to {
            self.send_signal(to, pc, value, fabric);
        }
    }

    /// Arms the timer, which fires once, when the low half of the timestamp next equals the future
    /// count.
    #[inline(always)]
    pub fn arm_timer(&mut self, fabric: &mut Fabric) {
        let (me, context) = (self.me, self.context.number());
        let timer = Event::Timer { me, context };
        let it = &mut *self.thread;
        let before = it.timer_due.take();
        if it.future_signal != 0 {
            let ((first, set), divider) = (self.timestamp, self.step);
            let count = timestamp_at(self.timestamp, self.now, divider);
            let left = Cycle::from(it.future_count.wrapping_sub(count as u16));
            fabric.note_timer_set(me, context, left);
            let due = set + (count - first + left) * divider;
            let due = due.max(self.now + 1);
            it.timer_due = Some(due);
            // Of the two writes needed for a wait, the second seldom changes when it ends.
            if before == Some(due) {
                return;
            }
            fabric.events.post(due, timer);
        }
        // A timer that is set again leaves nothing of its previous setting.
        if let Some(due) = before {
            fabric.events.cancel(due, timer);
        }
    }

    /// Raises a signal of a microengine as specified by a write of a signal CSR.
    #[inline(always)]
    fn send_signal(&self, me: u8, pc: u16, value: u32, fabric: &mut Fabric) {
        let signal = (value >> 3 & 15) as u8;
        let context = if value & 0x80 == 0 {
            Context::wrapping(value as u8)
        } else {
            self.mode.next(self.context)
        };
        if signal == 0 || usize::from(me) >= fabric.nn_rings.len() {
            return;
        }
        let due = self.now + self.delay;
        let by = SignalSource::at(self.me, self.context.number(), pc);
        let raised = Event::Signal {
            me,
            context: context.number(),
            signal,
            by,
        };
        fabric.events.post(due, raised);
    }
}

impl Microengine {
    /// The state needed for a posted write of a context at the present cycle.
    #[inline]
    pub(crate) fn posted_write(&mut self, context: Context) -> PostedWrite<'_> {
        PostedWrite {
            me: self.index,
            context,
            thread: &mut self.contexts[context],
            mode: self.mode,
            delay: self.timing.signal,
            step: self.timing.timestamp,
            timestamp: (self.timestamp, self.timestamp_set),
            now: self.cycle,
        }
    }
}
