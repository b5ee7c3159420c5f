//! A row of the table of packets.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use npsim_chip::Cycle;

/// Packets that may be undecided behind the oldest that is. With one more, the oldest is
/// written as still inside.
pub const OPEN_MOST: usize = 65_536;

/// The columns.
pub const COLUMNS: &str = "packet,flow,bytes,port_in,first_bit_in,last_bit_in,fate,port_out,bytes_out,first_bit_out,ended,delay,reordered,by,counter,reason,me,context,place";

/// A row: what came of a packet. Without a value is what is not known or does not apply. Times are
/// cycles of the microengines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketRow<'a> {
    /// The packet's number, from 0 in the order of arrival.
    pub packet: Option<u64>,
    /// Its flow in words.
    pub flow: Option<&'a str>,
    /// Its length when it came.
    pub bytes: Option<u32>,
    /// The port by which it came.
    pub port_in: Option<u8>,
    /// When its first bit came.
    pub first_bit_in: Option<Cycle>,
    /// When its last bit came.
    pub last_bit_in: Option<Cycle>,
    /// `sent`, `dropped`, `slow-path` or `inside`.
    pub fate: &'static str,
    /// The port by which it left, or was to leave.
    pub port_out: Option<u8>,
    /// Its length when it left.
    pub bytes_out: Option<u32>,
    /// When its first bit left.
    pub first_bit_out: Option<Cycle>,
    /// When it came to its end: for one that was sent, when its last bit left.
    pub ended: Option<Cycle>,
    /// From its last bit in to its last bit out.
    pub delay: Option<Cycle>,
    /// How late it left in its flow, in packets.
    pub reordered: Option<u64>,
    /// What ended it: `media`, `microcode` or `core`.
    pub by: Option<&'static str>,
    /// The counter of the microcode that counts it.
    pub counter: Option<&'a str>,
    /// Why it did not leave.
    pub reason: Option<&'a str>,
    /// The microengine that dropped it.
    pub me: Option<u8>,
    /// The context that dropped it.
    pub context: Option<u8>,
    /// The line that dropped it.
    pub place: Option<&'a str>,
}

/// Takes the rows of a table of packets.
pub trait PacketSink {
    /// What the table becomes.
    type Table;

    /// The next row.
    ///
    /// # Errors
    /// It cannot be written; no further row is given then.
    fn put(&mut self, row: &PacketRow<'_>) -> io::Result<()>;

    /// The table after its last row.
    ///
    /// # Errors
    /// Rows could not be written.
    fn finish(self) -> io::Result<Self::Table>;
}

/// Writes rows as CSV, below a line with the names of the columns.
#[derive(Debug)]
pub struct CsvRows<W> {
    out: W,
    line: String,
}

impl<W: Write> CsvRows<W> {
    /// A table of which nothing is written yet.
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

/// A text in a cell.
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

/// A packet that came.
#[derive(Clone, Debug)]
pub(super) struct IncomingPacket {
    pub number: u64,
    pub flow: String,
    pub bytes: u32,
    pub port: u8,
    /// First and last bit.
    pub time: (Cycle, Cycle),
}

/// The end of a packet.
#[derive(Clone, Debug)]
pub(super) enum PacketEnd {
    Sent {
        port: u8,
        bytes: u32,
        /// First and last bit.
        time: (Cycle, Cycle),
        /// How late it was in its flow; `None` where that is not known.
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
    /// Neither left nor lost, when the run ended or too many came behind it.
    Inside,
}

impl<'a> PacketRow<'a> {
    /// The row of a packet and an end of it; `number` where nothing else of it is known.
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
                // What was lost on the way in has no port out.
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
