//! A row of the table of packets.

use std::fmt::Write;

use npsim_chip::Cycle;

/// Packets that may be undecided behind the oldest that is. With one more, the oldest is
/// written as still inside.
pub const OPEN_MOST: usize = 65_536;

/// The columns.
pub const COLUMNS: &str = "packet,flow,bytes,port_in,first_bit_in,last_bit_in,fate,port_out,bytes_out,first_bit_out,ended,delay,reordered,by,counter,reason,me,context,place";

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

/// A text in a cell.
struct CsvCell<'a>(&'a str);

impl std::fmt::Display for CsvCell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.contains([',', '"', '\n', '\r']) {
            write!(f, "\"{}\"", self.0.replace('"', "\"\""))
        } else {
            f.write_str(self.0)
        }
    }
}

/// The row of a packet and an end of it; `number` where nothing else of it is known.
pub(super) fn write(
    line: &mut String,
    packet: Option<&IncomingPacket>,
    number: Option<u64>,
    end: &PacketEnd,
) {
    line.clear();
    // Writing to a string cannot fail.
    let _ = fields(line, packet, number, end);
}

fn fields(
    line: &mut String,
    packet: Option<&IncomingPacket>,
    number: Option<u64>,
    end: &PacketEnd,
) -> std::fmt::Result {
    match (packet, number) {
        (Some(it), _) => write!(
            line,
            "{},{},{},{},{},{},",
            it.number,
            CsvCell(&it.flow),
            it.bytes,
            it.port,
            it.time.0,
            it.time.1
        )?,
        (None, Some(number)) => write!(line, "{number},,,,,,")?,
        (None, None) => line.push_str(",,,,,,"),
    }
    match end {
        PacketEnd::Sent {
            port,
            bytes,
            time,
            extent,
        } => {
            write!(line, "sent,{port},{bytes},{},{},", time.0, time.1)?;
            if let Some(packet) = packet {
                write!(line, "{}", time.1.saturating_sub(packet.time.1))?;
            }
            line.push(',');
            if let Some(extent) = extent {
                write!(line, "{extent}")?;
            }
            line.push_str(",,,,,,");
        }
        PacketEnd::Media { at, port, reason } => {
            // What was lost on the way in has no port out.
            let out = packet.is_none_or(|it| it.time.0 != *at);
            line.push_str("dropped,");
            if out {
                write!(line, "{port}")?;
            }
            write!(line, ",,,{at},,,media,,{},,,", CsvCell(reason))?;
        }
        PacketEnd::Microcode {
            at,
            counter,
            reason,
            me,
            context,
            place,
        } => write!(
            line,
            "dropped,,,,{at},,,microcode,{},{},{me},{context},{}",
            CsvCell(counter),
            CsvCell(reason),
            CsvCell(place)
        )?,
        PacketEnd::SlowPath { at, reason } => {
            write!(line, "slow-path,,,,{at},,,core,,{},,,", CsvCell(reason))?;
        }
        PacketEnd::Inside => line.push_str("inside,,,,,,,,,,,,"),
    }
    line.push('\n');
    Ok(())
}
