//! A row of the table of packets.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use npsim_chip::Cycle;

/// Maximum number of packets after the oldest undecided one. With one more, the oldest is written
/// as still inside.
pub const MAX_OPEN: usize = 65_536;

/// The column names.
pub const COLUMNS: &str = "packet,flow,bytes,port_in,first_bit_in,last_bit_in,fate,port_out,bytes_out,first_bit_out,ended,delay,reordered,by,counter,reason,me,context,place";

/// A row: the fate of a packet. Fields are empty if unknown or not applicable. Times are cycles of
/// the microengines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketRow<'a> {
    /// The packet's number, from 0 in the order of arrival.
    pub packet: Option<u64>,
    /// A description of its flow.
    pub flow: Option<&'a str>,
    /// Its length on arrival in bytes.
    pub bytes: Option<u32>,
    /// The port at which it arrived.
    pub port_in: Option<u8>,
    /// The arrival of its first bit.
    pub first_bit_in: Option<Cycle>,
    /// The arrival of its last bit.
    pub last_bit_in: Option<Cycle>,
    /// `sent`, `dropped`, `slow-path` or `inside`.
    pub fate: &'static str,
    /// The port by which it left, or was due to leave.
    pub port_out: Option<u8>,
    /// Its length on departure in bytes.
    pub bytes_out: Option<u32>,
    /// The departure of its first bit.
    pub first_bit_out: Option<Cycle>,
    /// The end of the packet: if sent, the departure of its last bit.
    pub ended: Option<Cycle>,
    /// Time from last bit in to last bit out.
    pub delay: Option<Cycle>,
    /// Extent of its reordering within its flow, in packets.
    pub reordered: Option<u64>,
    /// Where it ended: `media`, `microcode` or `core`.
    pub by: Option<&'static str>,
    /// The microcode's counter for it.
    pub counter: Option<&'a str>,
    /// Why it did not leave.
    pub reason: Option<&'a str>,
    /// The microengine that dropped it.
    pub me: Option<u8>,
    /// The context that dropped it.
    pub context: Option<u8>,
    /// The source line that dropped it.
    pub place: Option<&'a str>,
}

/// A consumer of the rows of a table of packets.
pub trait PacketSink {
    /// The finished table.
    type Table;

    /// Adds the next row.
    ///
    /// # Errors
    /// Returns an error if the row cannot be written; no further row is added
    /// then.
    fn put(&mut self, row: &PacketRow<'_>) -> io::Result<()>;

    /// Completes the table after its last row.
    ///
    /// # Errors
    /// Returns an error if rows could not be written.
    fn finish(self) -> io::Result<Self::Table>;
}

/// Writes rows as CSV, after a header line with the column names.
#[derive(Debug)]
pub struct CsvRows<W> {
    out: W,
    line: String,
}

impl<W: Write> CsvRows<W> {
    /// A table without rows.
    pub fn new(out: W) -> Self {
        Self {
            out,
            line: format!("{COLUMNS}\n"),
        }
    }
}

impl<W: Write> PacketSink for CsvRows<W> {
    type Table = W;

    fn put(&mut self, row: &PacketRow<'_>) -> io::Result<()> {
        // Writing to a string cannot fail.
        let _ = write_row(&mut self.line, row);
        self.out.write_all(self.line.as_bytes())?;
        self.line.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        self.out.write_all(self.line.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The text of a cell.
struct CsvCell<'a>(&'a str);

impl Display for CsvCell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.contains([',', '"', '\n', '\r']) {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        } else {
            f.write_str(self.0)
        }
    }
}

fn write_row(line: &mut String, row: &PacketRow<'_>) -> fmt::Result {
    let text = |text: Option<&'_ str>| CsvCell(text.unwrap_or_default()).to_string();
    cell(line, row.packet)?;
    write!(line, "{},", text(row.flow))?;
    cell(line, row.bytes)?;
    cell(line, row.port_in)?;
    cell(line, row.first_bit_in)?;
    cell(line, row.last_bit_in)?;
    write!(line, "{},", row.fate)?;
    cell(line, row.port_out)?;
    cell(line, row.bytes_out)?;
    cell(line, row.first_bit_out)?;
    cell(line, row.ended)?;
    cell(line, row.delay)?;
    cell(line, row.reordered)?;
    cell(line, row.by)?;
    write!(line, "{},{},", text(row.counter), text(row.reason))?;
    cell(line, row.me)?;
    cell(line, row.context)?;
    writeln!(line, "{}", text(row.place))
}

fn cell(line: &mut String, value: Option<impl Display>) -> fmt::Result {
    match value {
        Some(value) => write!(line, "{value},"),
        None => line.write_char(','),
    }
}

/// A packet that arrived.
#[derive(Clone, Debug)]
pub(super) struct IncomingPacket {
    pub number: u64,
    pub flow: String,
    pub bytes: u32,
    pub port: u8,
    /// First and last bit, in cycles.
    pub time: (Cycle, Cycle),
}

/// The end of a packet.
#[derive(Clone, Debug)]
pub(super) enum PacketEnd {
    Sent {
        port: u8,
        bytes: u32,
        /// First and last bit, in cycles.
        time: (Cycle, Cycle),
        /// Extent of its reordering within its flow; `None` if unknown.
        extent: Option<u64>,
    },
    Media {
        at: Cycle,
        port: u8,
        reason: &'static str,
    },
    Microcode {
        at: Cycle,
        counter: String,
        reason: String,
        me: u8,
        context: u8,
        place: String,
    },
    SlowPath {
        at: Cycle,
        reason: String,
    },
    /// Neither left nor lost when the run ended, or when too many packets had arrived after it.
    Inside,
}

impl<'a> PacketRow<'a> {
    /// The row of a packet with one of its ends; `number` is used if nothing else is known about
    /// the packet.
    pub(super) fn of(
        packet: Option<&'a IncomingPacket>,
        number: Option<u64>,
        end: &'a PacketEnd,
    ) -> Self {
        let came = match packet {
            Some(it) => Self {
                packet: Some(it.number),
                flow: Some(&it.flow),
                bytes: Some(it.bytes),
                port_in: Some(it.port),
                first_bit_in: Some(it.time.0),
                last_bit_in: Some(it.time.1),
                ..Self::default()
            },
            None => Self {
                packet: number,
                ..Self::default()
            },
        };
        match end {
            PacketEnd::Sent {
                port,
                bytes,
                time,
                extent,
            } => Self {
                fate: "sent",
                port_out: Some(*port),
                bytes_out: Some(*bytes),
                first_bit_out: Some(time.0),
                ended: Some(time.1),
                delay: packet.map(|packet| time.1.saturating_sub(packet.time.1)),
                reordered: *extent,
                ..came
            },
            PacketEnd::Media { at, port, reason } => Self {
                fate: "dropped",
                // A frame lost on the way in has no output port.
                port_out: packet.is_none_or(|it| it.time.0 != *at).then_some(*port),
                ended: Some(*at),
                by: Some("media"),
                reason: Some(reason),
                ..came
            },
            PacketEnd::Microcode {
                at,
                counter,
                reason,
                me,
                context,
                place,
            } => Self {
                fate: "dropped",
                ended: Some(*at),
                by: Some("microcode"),
                counter: Some(counter),
                reason: Some(reason),
                me: Some(*me),
                context: Some(*context),
                place: Some(place),
                ..came
            },
            PacketEnd::SlowPath { at, reason } => Self {
                fate: "slow-path",
                ended: Some(*at),
                by: Some("core"),
                reason: Some(reason),
                ..came
            },
            PacketEnd::Inside => Self {
                fate: "inside",
                ..came
            },
        }
    }
}
