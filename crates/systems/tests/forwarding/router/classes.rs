//! The class of a packet according to the project file.

use std::net::Ipv4Addr;
use std::path::Path;

/// Classes of a port.
pub const CLASSES: usize = 4;

/// Flows and code points with their classes.
pub struct Classes {
    flows: Vec<([u8; 13], usize)>,
    by_dscp: Vec<usize>,
}

/// Source, destination, protocol and ports of an IPv4 packet without options in
/// a frame; only TCP and UDP have ports, and of fragments only the first.
fn key(frame: &[u8]) -> [u8; 13] {
    let mut key = [0; 13];
    key[..8].copy_from_slice(&frame[26..34]);
    key[8] = frame[23];
    let fragment = u16::from_be_bytes([frame[20], frame[21]]) & 0x1fff;
    if fragment == 0 && [6, 17].contains(&frame[23]) {
        key[9..].copy_from_slice(&frame[34..38]);
    }
    key
}

impl Classes {
    pub fn of(project: &Path) -> Self {
        let table = crate::oracle::project_table(project);
        let flow = |flow: &toml::Value| {
            let number = |name: &str| {
                flow.get(name)
                    .and_then(toml::Value::as_integer)
                    .unwrap_or(0) as u16
            };
            let address = |name: &str| {
                let text = flow[name].as_str().unwrap();
                text.parse::<Ipv4Addr>().unwrap().octets()
            };
            let mut key = [0; 13];
            key[..4].copy_from_slice(&address("source"));
            key[4..8].copy_from_slice(&address("destination"));
            key[8] = number("protocol") as u8;
            key[9..11].copy_from_slice(&number("source_port").to_be_bytes());
            key[11..].copy_from_slice(&number("destination_port").to_be_bytes());
            (key, usize::from(number("class")))
        };
        let memory = table["memory"].as_array().unwrap().iter();
        let dscp = memory
            .clone()
            .find(|memory| memory["name"].as_str() == Some("DSCP_CLASSES"))
            .unwrap();
        let words = dscp["words"].as_array().unwrap().iter();
        Self {
            flows: table["flow"].as_array().unwrap().iter().map(flow).collect(),
            by_dscp: words
                .map(|word| word.as_integer().unwrap() as usize)
                .collect(),
        }
    }

    /// The class of a frame that is forwarded.
    pub fn class(&self, frame: &[u8]) -> usize {
        let key = key(frame);
        let flow = self.flows.iter().find(|(flow, _)| *flow == key);
        flow.map_or_else(
            || self.by_dscp[usize::from(frame[15] >> 2)],
            |(_, class)| *class,
        )
    }
}
