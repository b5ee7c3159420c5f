//! The expected outcome of a frame, stated independently of the microcode.

use std::net::Ipv4Addr;
use std::path::Path;

/// How a frame leaves, or the counter that counts it as dropped.
pub type Fate = Result<Vec<u8>, &'static str>;

struct Route {
    network: u32,
    length: u32,
    mac: [u8; 6],
}

/// The routes and the one port of the projects.
pub struct Routes {
    routes: Vec<Route>,
    mac: [u8; 6],
}

fn mac(value: &toml::Value) -> [u8; 6] {
    let digits = value.as_str().unwrap().split(':');
    let bytes: Vec<u8> = digits
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

/// The sum of 16-bit words of the Internet checksum: 0xffff over a correct header.
fn sum(header: &[u8]) -> u16 {
    let words = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

impl Routes {
    /// The routes that the shipped projects share.
    pub fn shipped(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("ordering.part.toml")).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let routes = table["route"].as_array().unwrap().iter();
        let routes = routes.map(|route| {
            let (network, length) = route["prefix"].as_str().unwrap().split_once('/').unwrap();
            Route {
                network: network.parse::<Ipv4Addr>().unwrap().into(),
                length: length.parse().unwrap(),
                mac: mac(&route["mac"]),
            }
        });
        Self {
            routes: routes.collect(),
            mac: mac(&table["port"][0]["mac"]),
        }
    }

    fn next_hop(&self, destination: u32) -> Option<[u8; 6]> {
        let leads = |route: &&Route| (destination ^ route.network) >> (32 - route.length) == 0;
        let longest = self.routes.iter().filter(leads).max_by_key(|it| it.length);
        longest.map(|route| route.mac)
    }

    /// The expected outcome of a frame.
    pub fn fate(&self, frame: &[u8]) -> Fate {
        if frame[12..14] != [8, 0] {
            return Err("DROP_NOT_IPV4");
        }
        let header = &frame[14..34];
        let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let whole = (20..=frame.len() - 14).contains(&total);
        if header[0] != 0x45 || !whole || sum(header) != 0xffff {
            return Err("DROP_HEADER");
        }
        let never = |network: u8| matches!(network, 0 | 127 | 224..);
        if never(header[12]) || never(header[16]) {
            return Err("DROP_MARTIAN");
        }
        let destination = u32::from_be_bytes(*header[16..].first_chunk().unwrap());
        let next_hop = self.next_hop(destination).ok_or("DROP_NO_ROUTE")?;
        if header[8] < 2 {
            return Err("DROP_TTL");
        }
        let mut leaves = frame.to_vec();
        leaves[..6].copy_from_slice(&next_hop);
        leaves[6..12].copy_from_slice(&self.mac);
        leaves[22] -= 1;
        leaves[24..26].fill(0);
        let check = !sum(&leaves[14..34]);
        leaves[24..26].copy_from_slice(&check.to_be_bytes());
        Ok(leaves)
    }
}
