//! Observes every arriving and departing frame, and stores only those that are inside.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use npsim::links::Tap;
use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop};
use npsim_net::load::{FrameKind, Stamp};
use npsim_net::order::Sequences;

use crate::fate::Routes;

/// A frame as it arrived.
type FramesInside = BTreeMap<u64, Vec<u8>>;

/// Observations on the lines.
pub struct Watcher {
    routes: Arc<Routes>,
    /// Frames that arrived and have neither left nor been lost at the media interface.
    pub inside: FramesInside,
    pub came: u64,
    pub left: u64,
    pub lost: u64,
    /// Departures of every flow, by number and kind.
    pub order: Sequences<(u32, u8)>,
    last_of_flow: BTreeMap<(u32, u8), u64>,
    last_of_all: Option<u64>,
    /// The first packet that left after a later one of its flow.
    pub reordered: Option<String>,
    /// The first packet that left after a later one of any flow.
    pub overtaken: Option<String>,
    /// The first frame that left but must not leave, or not in this form.
    pub wrong: Option<String>,
    /// The last bit of each departure.
    pub departures: Vec<Cycle>,
}

impl Watcher {
    pub fn new(routes: Arc<Routes>) -> Self {
        Self {
            routes,
            inside: FramesInside::new(),
            came: 0,
            left: 0,
            lost: 0,
            order: Sequences::counted(),
            last_of_flow: BTreeMap::new(),
            last_of_all: None,
            reordered: None,
            overtaken: None,
            wrong: None,
            departures: Vec::new(),
        }
    }

    fn note_order(&mut self, frame: u64, stamp: Stamp) {
        let flow = (stamp.flow, stamp.kind as u8);
        self.order.note(flow, stamp.sequence);
        let last = self.last_of_flow.entry(flow).or_default();
        if *last > stamp.sequence {
            let text = || format!("{last} of its flow overtook {stamp:?}, frame {frame}");
            self.reordered.get_or_insert_with(text);
        }
        *last = stamp.sequence.max(*last);
        if let Some(last) = self.last_of_all.filter(|&last| last > frame) {
            let text = || format!("frame {last} overtook frame {frame}");
            self.overtaken.get_or_insert_with(text);
        }
        self.last_of_all = self.last_of_all.max(Some(frame));
    }

    fn check_departure(&mut self, departure: &Departure<'_>) -> Result<(), String> {
        let frame = departure.frame.ok_or("a frame left that never came")?;
        let came = self.inside.remove(&frame);
        let came = came.ok_or_else(|| format!("frame {frame} left again"))?;
        let due = self.routes.fate(&came);
        let due = due.map_err(|counter| format!("frame {frame} left, it is for {counter}"))?;
        if departure.port != 0 || due != departure.bytes {
            return Err(format!(
                "frame {frame} left as {departure:?}, not as {due:?}"
            ));
        }
        let stamp = Stamp::read(departure.bytes);
        let stamp = stamp.ok_or_else(|| format!("frame {frame} left without a stamp"))?;
        if stamp.kind == FrameKind::Ttl || departure.arrived.is_none_or(|at| at >= departure.end) {
            return Err(format!("frame {frame}, {stamp:?}, left too early"));
        }
        self.note_order(frame, stamp);
        Ok(())
    }
}

/// A watcher on the lines.
pub struct WatcherTap(pub Arc<Mutex<Watcher>>);

impl Tap for WatcherTap {
    fn arriving(&mut self, arrival: &Arrival) {
        let mut watcher = self.0.lock().unwrap();
        watcher.came += 1;
        watcher.inside.insert(arrival.frame, arrival.bytes.clone());
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let mut watcher = self.0.lock().unwrap();
        watcher.left += 1;
        watcher.departures.push(departure.end);
        if let Err(what) = watcher.check_departure(departure) {
            watcher.wrong.get_or_insert(what);
        }
    }

    fn dropped(&mut self, _: Cycle, _: u8, frame: Option<u64>, reason: MediaDrop) {
        let mut watcher = self.0.lock().unwrap();
        watcher.lost += 1;
        let known = frame.is_some_and(|frame| watcher.inside.remove(&frame).is_some());
        let for_room = matches!(
            reason,
            MediaDrop::ReceiveFifoFull | MediaDrop::ReceiveBusBehind
        );
        if !known || !for_room {
            let text = || format!("frame {frame:?} is lost: {reason:?}");
            watcher.wrong.get_or_insert_with(text);
        }
    }
}
