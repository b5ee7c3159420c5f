//! Loads of all resources.

use npsim_chip::kernel::row::permille;
use npsim_inspect::stats::PortStats;
use serde::Serialize;

use super::window::AnalysisWindow;

/// Bytes that a frame takes on an Ethernet line beyond its own: preamble,
/// interframe gap and frame check sequence.
const LINE_OVERHEAD: u64 = 8 + 12 + 4;

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadKind {
    /// A microengine, in use while executing, aborted or stalled.
    Microengine(u8),
    /// A memory or hash unit, or a channel of one.
    Unit,
    /// All instances of a bus together.
    Bus,
    /// The line into a port.
    LineIn(u8),
    /// The line out of a port.
    LineOut(u8),
    /// The general-purpose core.
    Core,
}

/// The share of the window in which a resource was in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceLoad {
    /// The kind of resource.
    pub kind: LoadKind,
    /// The name in sentences.
    pub name: String,
    /// Thousandths of the window.
    pub permille: u64,
}

/// The activity of a microengine, in thousandths of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MicroengineShare {
    /// Its index on the chip.
    pub index: u64,
    /// Executing instructions.
    pub executing: u64,
    /// Slots lost to taken branches and context swaps.
    pub aborted: u64,
    /// Waiting for room in the command FIFO.
    pub stalled: u64,
}

/// The activity of every microengine.
pub(super) fn shares(window: &AnalysisWindow) -> Vec<MicroengineShare> {
    let (before, after) = (&window.before.stats, &window.after.stats);
    let pairs = before.microengines.iter().zip(&after.microengines);
    let share = |part| permille(part, window.cycles());
    pairs
        .map(|(a, b)| MicroengineShare {
            index: b.index,
            executing: share(b.executing - a.executing),
            aborted: share(b.aborted - a.aborted),
            stalled: share(b.stalled - a.stalled),
        })
        .collect()
}

/// The loads of all resources that were in use, highest first; ties are in a
/// fixed order.
pub(super) fn loads(window: &AnalysisWindow, clusters: u64) -> Vec<ResourceLoad> {
    let (before, after) = (&window.before.stats, &window.after.stats);
    let cycles = window.cycles();
    let mut loads = Vec::new();
    let mut add = |kind, name: String, permille: u64| {
        if permille > 0 {
            let permille = permille.min(1000);
            loads.push(ResourceLoad {
                kind,
                name,
                permille,
            });
        }
    };
    for (a, b) in before.microengines.iter().zip(&after.microengines) {
        let busy =
            |me: &npsim_inspect::stats::MicroengineStats| me.executing + me.aborted + me.stalled;
        let kind = LoadKind::Microengine(b.index as u8);
        let name = format!("microengine {}", b.index);
        add(kind, name, permille(busy(b) - busy(a), cycles));
    }
    for (a, b) in before.units.iter().zip(&after.units) {
        let used = permille(b.busy - a.busy, cycles);
        add(LoadKind::Unit, b.name.clone(), used);
    }
    for (a, b) in before.buses.iter().zip(&after.buses) {
        // Each cluster has its own command bus and S buses.
        let instances = if b.name.starts_with("d_") {
            1
        } else {
            clusters
        };
        let used = permille(b.busy - a.busy, cycles * instances);
        add(
            LoadKind::Bus,
            format!("{} bus", b.name.replace('_', " ")),
            used,
        );
    }
    for (a, b) in before.ports.iter().zip(&after.ports) {
        let port = b.port as u8;
        let line = |frames, bytes| line_permille(b, frames, bytes, cycles, after.mhz);
        let frames = b.received_frames - a.received_frames;
        let used = line(frames, b.received_bytes - a.received_bytes);
        add(LoadKind::LineIn(port), format!("port {port} line in"), used);
        let frames = b.sent_frames - a.sent_frames;
        let used = line(frames, b.sent_bytes - a.sent_bytes);
        add(
            LoadKind::LineOut(port),
            format!("port {port} line out"),
            used,
        );
    }
    let media = [
        (
            "media receive bus",
            before.media.receive_bus_busy,
            after.media.receive_bus_busy,
        ),
        (
            "media transmit bus",
            before.media.transmit_bus_busy,
            after.media.transmit_bus_busy,
        ),
    ];
    for (name, a, b) in media {
        add(LoadKind::Bus, name.to_owned(), permille(b - a, cycles));
    }
    let core = permille(after.gpp.busy.saturating_sub(before.gpp.busy), cycles);
    add(LoadKind::Core, "general-purpose core".to_owned(), core);
    loads.sort_by_key(|load| std::cmp::Reverse(load.permille));
    loads
}

/// Thousandths of a line's time that frames took.
fn line_permille(port: &PortStats, frames: u64, bytes: u64, cycles: u64, mhz: u64) -> u64 {
    let bits = u128::from(bytes + frames * LINE_OVERHEAD) * 8;
    let possible = u128::from(port.bits_per_second) * u128::from(cycles);
    (bits * u128::from(mhz) * 1_000_000 * 1000)
        .checked_div(possible)
        .unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use super::line_permille;
    use npsim_inspect::stats::PortStats;

    #[test]
    fn minimum_size_frames_fill_the_line() {
        let port = PortStats {
            bits_per_second: 1_000_000_000,
            ..PortStats::default()
        };
        // 1000 frames of 84 bytes on the line take 672 us, 403,200 cycles.
        assert_eq!(line_permille(&port, 1000, 60_000, 403_200, 600), 1000);
        assert_eq!(line_permille(&port, 500, 30_000, 403_200, 600), 500);
        assert_eq!(line_permille(&PortStats::default(), 5, 5, 5, 600), 0);
    }
}
