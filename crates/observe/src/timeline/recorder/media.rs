//! Frames and mpackets on the timeline: RBUF, TBUF, and drops.

use std::io::Write;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::MediaDrop;
use npsim_chip::kernel::trace_event::{RbufStep, TbufStep};

use super::Recorder;
use crate::packets::MicrocodeDrop;
use crate::timeline::tracks::{Track, TrackGroup};

impl<W: Write> Recorder<W> {
    /// Handles a frame that is on the input line for a time.
    pub(super) fn arrives(&mut self, time: (Cycle, Cycle), port: u8, frame: u64, bytes: u32) {
        if self.past {
            // An earlier frame with this number is a different one.
            self.journeys.forget(frame);
        } else {
            self.journeys.begin(frame, time.0, port);
        }
        let name = format!("frame {frame}");
        self.writer
            .slice(Track::Arrivals(port), &name, time, |all| {
                all.number("bytes", bytes);
            });
    }

    /// Handles a frame that has been on the output line for a time.
    pub(super) fn departed(
        &mut self,
        time: (Cycle, Cycle),
        port: u8,
        frame: Option<u64>,
        bytes: u32,
    ) {
        let track = Track::Departures(port);
        let name = frame.map_or_else(|| "frame".to_owned(), |frame| format!("frame {frame}"));
        self.writer.slice(track, &name, time, |all| {
            all.number("bytes", bytes);
        });
        if let Some(frame) = frame {
            let end = Some((time.0, track));
            self.journeys.end(frame, end, &mut self.writer);
        }
    }

    pub(super) fn rbuf(&mut self, at: Cycle, frame: u64, step: RbufStep) {
        match step {
            RbufStep::Filled { .. } => self.rbuf += 1,
            RbufStep::Freed { .. } => self.rbuf = self.rbuf.saturating_sub(1),
            RbufStep::HandedOver { me, context } | RbufStep::Read { me, context } => {
                self.journeys.touch(frame, at, me, context);
                return;
            }
        }
        let name = "RBUF elements in use";
        let used = self.rbuf.cast_signed();
        self.writer.counter(TrackGroup::Media, name, at, used);
    }

    pub(super) fn tbuf(&mut self, at: Cycle, frame: Option<u64>, step: TbufStep) {
        let touched = match step {
            TbufStep::Written { me, context } => Some((me, context)),
            TbufStep::Valid { me, context, .. } => {
                self.tbuf += 1;
                Some((me, context))
            }
            TbufStep::Sent => {
                self.tbuf = self.tbuf.saturating_sub(1);
                None
            }
        };
        if let (Some(frame), Some((me, context))) = (frame, touched) {
            self.journeys.touch(frame, at, me, context);
        }
        if !matches!(step, TbufStep::Written { .. }) {
            let name = "TBUF elements valid";
            let valid = self.tbuf.cast_signed();
            self.writer.counter(TrackGroup::Media, name, at, valid);
        }
    }

    /// Handles a packet that microcode drops and has counted.
    pub(super) fn microcode_drops(&mut self, drop: &MicrocodeDrop) {
        let mut of = self.microengines.get_mut(usize::from(drop.me));
        let counter = self.counters.get(drop.counter);
        let track = Track::Context(drop.me, drop.context);
        self.writer.mark(track, "drops a packet", drop.at, |all| {
            if let Some(frame) = drop.frame {
                all.number("frame", frame);
            }
            if let Some(counter) = counter {
                all.text("why", &counter.text);
            }
            if let Some(seen) = &mut of {
                all.quoted("at", seen.places.of(drop.pc));
            }
        });
        if let Some(frame) = drop.frame {
            let last = Some((drop.at, track));
            self.journeys.end(frame, last, &mut self.writer);
        }
    }

    pub(super) fn dropped(&mut self, at: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        let arriving = matches!(
            reason,
            MediaDrop::ReceiveFifoFull | MediaDrop::ReceiveTooLong | MediaDrop::ReceiveBusBehind
        ) || reason == MediaDrop::NoSuchPort && self.is_arriving(frame, at);
        let track = if arriving {
            Track::Arrivals(port)
        } else {
            Track::Departures(port)
        };
        self.writer
            .mark(track, "dropped", at, |all| all.text("why", why(reason)));
        if let Some(frame) = frame {
            self.journeys.end(frame, None, &mut self.writer);
        }
    }

    /// Whether a frame's first bit arrived at a cycle.
    fn is_arriving(&self, frame: Option<u64>, at: Cycle) -> bool {
        frame.is_some_and(|frame| self.journeys.began(frame) == Some(at))
    }
}

fn why(reason: MediaDrop) -> &'static str {
    match reason {
        MediaDrop::ReceiveFifoFull => "receive FIFO full: no RBUF element was free",
        MediaDrop::NoSuchPort => "there is no such port",
        MediaDrop::TransmitNoSop => "the first mpacket had no SOP",
        MediaDrop::TransmitSopTwice => "SOP before the EOP of the frame before",
        MediaDrop::TransmitAborted => "aborted by microcode",
        MediaDrop::TransmitTooLong => "longer than the MAC's FIFO",
        MediaDrop::ReceiveTooLong => "longer than the receive FIFO, which was not empty",
        MediaDrop::ReceiveBusBehind => "receive FIFO full: the media bus is behind",
    }
}
