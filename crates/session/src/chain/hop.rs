//! One router of a chain, from its first frame to its end.

use std::cell::RefCell;
use std::io;
use std::ops::ControlFlow;
use std::rc::Rc;

use npsim_chip::Cycle;
use npsim_chip::kernel::lines::{Arrival, Departure, MediaDrop};
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::stats::Stats;

use super::link::{Origin, Origins, Outlet};
use super::permits::Permit;
use crate::histogram::Histogram;
use crate::links::{Links, Tap, Traffic};
use crate::simulation::{Ending, Simulation};

/// Cycles between two times at which what has left is handed on.
const WINDOW: Cycle = 60_000;

/// What was counted up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// By the chip.
    pub stats: Stats,
    /// On the lines.
    pub traffic: Traffic,
}

/// A router that has come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Why its run ended.
    pub ending: Ending,
    /// When.
    pub end: Cycle,
    /// What was counted up to the [mark](super::Plan::mark), if the run came so
    /// far.
    pub mark: Option<Counts>,
    /// What was counted up to the end.
    pub counts: Counts,
    /// Cycles from the last bit into the first router to the last bit out of this
    /// one, of every departure that could be traced.
    pub since_entry: Histogram,
    /// When the last frame that was known had arrived.
    pub arrivals_end: Cycle,
    /// What each context did in the end, one line each.
    pub state_report: Vec<String>,
    /// Why not all frames could be read.
    pub unread: Option<String>,
}

/// Where frames that leave a router go, and what is noted of them.
pub struct Leaving<'a> {
    /// Where those that came in came into the chain; absent at the first router.
    origins: Option<Rc<RefCell<Origins>>>,
    /// The way to the next router; absent at the last one.
    outlet: Option<Outlet>,
    entry: Option<Box<dyn Tap + 'a>>,
    exit: Option<Box<dyn Tap + 'a>>,
    since_entry: Histogram,
}

impl<'a> Leaving<'a> {
    /// Nothing has left yet.
    pub fn new(origins: Option<Rc<RefCell<Origins>>>, outlet: Option<Outlet>) -> Self {
        Self {
            origins,
            outlet,
            entry: None,
            exit: None,
            since_entry: Histogram::default(),
        }
    }

    /// Lets `tap` see what comes in at the first router.
    pub fn entry(&mut self, tap: Option<Box<dyn Tap + 'a>>) {
        self.entry = tap;
    }

    /// Lets `tap` see what leaves the last router.
    pub fn exit(&mut self, tap: Option<Box<dyn Tap + 'a>>) {
        self.exit = tap;
    }

    /// Hands on frames whose first bit left before `known`.
    fn release(&mut self, known: Cycle, permit: &Permit<'_>) {
        if let Some(outlet) = &mut self.outlet {
            outlet.release(known, permit);
        }
    }

    fn origin(&self, departure: &Departure<'_>) -> Option<Origin> {
        match &self.origins {
            Some(origins) => origins.borrow().of(departure.frame?),
            None => Some(Origin {
                frame: departure.frame?,
                arrived: departure.arrived?,
            }),
        }
    }
}

/// [`Leaving`] for lines and for who drives them.
struct Shared<'a>(Rc<RefCell<Leaving<'a>>>);

impl Tap for Shared<'_> {
    fn arriving(&mut self, arrival: &Arrival) {
        if let Some(entry) = &mut self.0.borrow_mut().entry {
            entry.arriving(arrival);
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let leaving = &mut *self.0.borrow_mut();
        let origin = leaving.origin(departure);
        if let Some(origin) = origin {
            let cycles = departure.end.saturating_sub(origin.arrived);
            leaving.since_entry.add(cycles);
        }
        if let Some(outlet) = &mut leaving.outlet {
            outlet.take(departure, origin);
        }
        if let Some(exit) = &mut leaving.exit {
            exit.departed(&Departure {
                frame: origin.map(|origin| origin.frame),
                arrived: origin.map(|origin| origin.arrived),
                ..departure.clone()
            });
        }
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        if let Some(entry) = &mut self.0.borrow_mut().entry {
            entry.dropped(cycle, port, frame, reason);
        }
    }
}

/// Runs a router to its end: up to `mark` first, if there is one, then up to
/// `until`. `each` is asked now and then whether it is to go on.
///
/// # Errors
/// The capture of departures could not be written.
pub fn run<'a>(
    mut simulation: Simulation,
    links: Links<'a>,
    leaving: Leaving<'a>,
    [mark, until]: [Option<Cycle>; 2],
    permit: &Permit<'_>,
    each: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
) -> io::Result<Hop> {
    let leaving = Rc::new(RefCell::new(leaving));
    let mut links = links.with_tap(Shared(Rc::clone(&leaving)));
    let mut windows = Windows {
        leaving: Rc::clone(&leaving),
        permit,
        pause: WINDOW,
    };
    let mut ending = Ending::Reached;
    let mut marked = None;
    if let Some(mark) = mark {
        if mark > 0 {
            simulation.run_until(Some(mark));
            ending = windows.drive(&mut simulation, &mut links, each);
        }
        marked = (ending == Ending::Reached).then(|| Counts {
            stats: simulation.stats(),
            traffic: links.traffic.clone(),
        });
    }
    if ending == Ending::Reached {
        simulation.run_until(until);
        ending = windows.drive(&mut simulation, &mut links, each);
    }
    leaving.borrow_mut().release(Cycle::MAX, permit);
    let end = simulation.now();
    let arrivals_end = links.arrivals_end();
    let unread = links.input_failure().map(ToString::to_string);
    // Nothing comes in or leaves any more: the routers beside this one learn it.
    let traffic = links.finish(end)?;
    let since_entry = std::mem::take(&mut leaving.borrow_mut().since_entry);
    Ok(Hop {
        end,
        mark: marked,
        counts: Counts {
            stats: simulation.stats(),
            traffic,
        },
        since_entry,
        arrivals_end,
        state_report: match ending {
            Ending::Fault(_) => simulation.state_report(),
            _ => Vec::new(),
        },
        ending,
        unread,
    })
}

/// Hands on what has left a router, window by window.
struct Windows<'a, 'p> {
    leaving: Rc<RefCell<Leaving<'a>>>,
    permit: &'p Permit<'p>,
    /// The end of the present window.
    pause: Cycle,
}

impl<'a> Windows<'a, '_> {
    fn drive(
        &mut self,
        simulation: &mut Simulation,
        links: &mut Links<'a>,
        each: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) -> Ending {
        loop {
            let pause = if self.leaving.borrow().outlet.is_some() {
                self.pause
            } else {
                Cycle::MAX
            };
            let ending =
                simulation.run_to(pause, links, &mut NoObserver, &mut |cycle, _| each(cycle));
            if let Some(ending) = ending {
                return ending;
            }
            let known = simulation.chip().units().msf.departures_known(pause);
            self.leaving.borrow_mut().release(known, self.permit);
            self.pause = pause.saturating_add(WINDOW);
        }
    }
}
