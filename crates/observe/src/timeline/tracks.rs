//! The tracks of a timeline: their numbers, names and order.

use npsim_chip::kernel::target::CommandTarget;
use npsim_chip::kernel::trace_event::Bus;

use crate::names;

/// A track, for something that does one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A context of a microengine.
    Context(u8, u8),
    /// Deliberate stalls of a context of a microengine.
    Stalls(u8, u8),
    /// Frames that arrive at a port.
    Arrivals(u8),
    /// Frames that leave a port.
    Departures(u8),
    /// A lane of a unit.
    Unit(CommandTarget, u8),
    /// A bus.
    Bus(Bus),
    /// A task of the general-purpose core.
    Core(u16),
    /// The functions of a task's program.
    Functions(u16),
    /// A longword that is watched as a lock.
    Lock(u16),
    /// A flow between hosts of a network.
    Flow(u32),
}

/// A group of tracks and counters: a process in the viewer's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrackGroup {
    Ports,
    Media,
    Core,
    Locks,
    Rings,
    Units,
    Buses,
    Microengine(u8),
    Flows,
    Links,
}

impl TrackGroup {
    /// The group's number. Microengines are placed below the ports and above the rest.
    pub fn pid(self) -> u32 {
        match self {
            // A network's own groups never share a timeline part with a chip's, which have a base
            // of their own.
            Self::Ports | Self::Flows => 1,
            Self::Media | Self::Links => 2,
            Self::Microengine(me) => 10 + u32::from(me),
            Self::Core => 40,
            Self::Rings => 41,
            Self::Units => 42,
            Self::Buses => 43,
            Self::Locks => 44,
        }
    }

    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Ports => Some("ports"),
            Self::Media => Some("media interface"),
            Self::Core => Some("general-purpose core"),
            Self::Locks => Some("locks"),
            Self::Flows => Some("flows"),
            Self::Links => Some("links"),
            Self::Rings => Some("rings and queues"),
            Self::Units => Some("memories and units"),
            Self::Buses => Some("buses"),
            Self::Microengine(_) => None,
        }
    }
}

impl Track {
    pub(super) const fn group(self) -> TrackGroup {
        match self {
            Self::Context(me, _) | Self::Stalls(me, _) => TrackGroup::Microengine(me),
            Self::Arrivals(_) | Self::Departures(_) => TrackGroup::Ports,
            Self::Unit(..) => TrackGroup::Units,
            Self::Bus(Bus::Receive | Bus::Transmit) => TrackGroup::Media,
            Self::Bus(_) => TrackGroup::Buses,
            Self::Core(_) | Self::Functions(_) => TrackGroup::Core,
            Self::Lock(_) => TrackGroup::Locks,
            Self::Flow(_) => TrackGroup::Flows,
        }
    }

    /// The number, unique among the tracks of all groups.
    pub(super) fn tid(self) -> u32 {
        let within = match self {
            Self::Context(_, context) => u32::from(context),
            Self::Stalls(_, context) => 8 + u32::from(context),
            Self::Arrivals(port) => 2 * u32::from(port),
            Self::Departures(port) => 2 * u32::from(port) + 1,
            Self::Unit(target, lane) => target.index() as u32 * 32 + u32::from(lane),
            Self::Bus(bus) => match bus {
                Bus::Command(cluster) => u32::from(cluster),
                Bus::SPush(cluster) => 10 + u32::from(cluster),
                Bus::SPull(cluster) => 20 + u32::from(cluster),
                Bus::DPush => 30,
                Bus::DPull => 31,
                Bus::DramPins(channel) => 40 + u32::from(channel),
                Bus::Receive => 0,
                Bus::Transmit => 1,
            },
            Self::Core(task) => u32::from(task),
            Self::Functions(task) => 500 + u32::from(task),
            Self::Lock(lock) => u32::from(lock),
            Self::Flow(flow) => flow,
        };
        self.group().pid() * 1000 + 1 + within
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Context(_, context) => format!("context {context}"),
            Self::Stalls(_, context) => format!("context {context} stalled"),
            Self::Arrivals(port) => format!("port {port} in"),
            Self::Departures(port) => format!("port {port} out"),
            Self::Unit(target, lane) => target.lane_name(lane),
            Self::Bus(bus) => names::bus(bus),
            Self::Core(task) => format!("task {task}"),
            Self::Functions(task) => format!("functions of task {task}"),
            Self::Lock(lock) => format!("lock {lock}"),
            Self::Flow(flow) => format!("flow {flow}"),
        }
    }
}
