//! Display names of the chip's parts, and descriptions of steps in their use.

use npsim_chip::gpp::ProgramView;
use npsim_chip::kernel::trace_event::{Bus, Cause, RbufStep, RingName, TbufStep};
use npsim_image::Image;
use npsim_image::Origin;
use npsim_isa::CommandOp;

use crate::series::{OccupancyProbe, ProbeKind};

/// `dram.rbuf_rd`
#[must_use]
pub fn operation(op: CommandOp) -> String {
    let info = op.info();
    format!("{}.{}", info.unit.info().name, info.name)
}

/// The origin of a signal, without its cause: `sram.read`, `mpacket`.
#[must_use]
pub fn cause(cause: Cause) -> String {
    match cause {
        Cause::Command { op, .. } => operation(op),
        Cause::Mpacket => "mpacket".to_owned(),
        Cause::FreelistTimeout => "freelist timeout".to_owned(),
        Cause::Thread { .. } => "signal of a thread".to_owned(),
        Cause::Timer => "timer".to_owned(),
    }
}

/// `S push bus 0`
#[must_use]
pub fn bus(bus: Bus) -> String {
    match bus {
        Bus::Command(cluster) => format!("command bus {cluster}"),
        Bus::SPush(cluster) => format!("S push bus {cluster}"),
        Bus::SPull(cluster) => format!("S pull bus {cluster}"),
        Bus::DPush => "D push bus".to_owned(),
        Bus::DPull => "D pull bus".to_owned(),
        Bus::DramPins(channel) => format!("dram{channel} pins"),
        Bus::Receive => "receive bus".to_owned(),
        Bus::Transmit => "transmit bus".to_owned(),
    }
}

/// `60 bytes in RBUF element 3 (SOP, EOP)`
#[must_use]
pub fn rbuf_step(element: u8, step: RbufStep) -> String {
    match step {
        RbufStep::Filled {
            bytes, sop, eop, ..
        } => {
            let bounds = match (sop, eop) {
                (true, true) => " (SOP, EOP)",
                (true, false) => " (SOP)",
                (false, true) => " (EOP)",
                (false, false) => "",
            };
            format!("{bytes} bytes in RBUF element {element}{bounds}")
        }
        RbufStep::HandedOver { .. } => format!("RBUF element {element} handed to the context"),
        RbufStep::Read { .. } => format!("RBUF element {element} moved to DRAM"),
        RbufStep::Freed { .. } => format!("RBUF element {element} freed"),
    }
}

/// `TBUF element 2 validated`, for the element with the first bytes of a packet.
#[must_use]
pub fn tbuf_step(element: u8, step: TbufStep) -> String {
    match step {
        TbufStep::Written { .. } => {
            format!("first bytes moved from DRAM to TBUF element {element}")
        }
        TbufStep::Valid { .. } => format!("TBUF element {element} validated"),
        TbufStep::Sent => format!("TBUF element {element} passed to the MAC"),
    }
}

/// `scratch ring 0`
#[must_use]
pub fn ring(ring: RingName) -> String {
    match ring {
        RingName::Scratch(ring) => format!("scratch ring {ring}"),
        RingName::Neighbour(me) => format!("next-neighbour ring of microengine {me}"),
        RingName::Sram { channel, entry } => format!("sram{channel} queue {entry}"),
    }
}

/// `TX_RING (scratch ring 2)`: the project's name of a ring or queue followed by the chip's own, or
/// the latter alone if the project has none.
#[must_use]
pub fn ring_label(places: &[OccupancyProbe], ring: RingName) -> String {
    let own = self::ring(ring);
    let kind = match ring {
        RingName::Scratch(number) => ProbeKind::Ring { number },
        RingName::Sram { channel, entry } => ProbeKind::Queue { channel, entry },
        RingName::Neighbour(_) => return own,
    };
    match places.iter().find(|place| place.kind == kind) {
        Some(place) if place.name != own => format!("{} ({own})", place.name),
        _ => own,
    }
}

/// A signal's name in the program at an address, or its number if it has none.
#[must_use]
pub fn signal(image: &Image, number: u8, address: u16) -> String {
    let name = image.signal_name(number, address);
    name.map_or_else(|| format!("signal {number}"), ToOwned::to_owned)
}

/// The names that the signals of a mask have at an address.
#[must_use]
pub fn signals(image: &Image, mask: u16, any: bool, address: u16) -> String {
    let mut names: Vec<_> = (1..16)
        .filter(|signal| mask & 1 << signal != 0)
        .map(|number| signal(image, number, address))
        .collect();
    // Both signals of a pair have the same name.
    names.dedup();
    names.join(if any { " or " } else { " and " })
}

/// `file:line` of a source location.
#[must_use]
pub fn line(image: &Image, origin: &Origin) -> String {
    let file = image
        .files
        .get(origin.file as usize)
        .map_or("?", String::as_str);
    format!("{file}:{}", origin.line)
}

/// The name of a program's function, or its address if unknown.
#[must_use]
pub fn function(program: &ProgramView, address: u32) -> String {
    let found = program.functions.binary_search_by_key(&address, |it| it.0);
    found.map_or_else(
        |_| format!("0x{address:08x}"),
        |at| program.functions[at].1.clone(),
    )
}
