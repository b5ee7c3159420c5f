//! The required outcome of a frame at a router, stated independently of the microcode.

use std::net::Ipv4Addr;
use std::path::Path;

/// The outcome of a frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// The frame leaves by a port with these bytes.
    Forwarded(usize, Vec<u8>),
    /// Microcode drops it under this counter.
    Dropped(&'static str),
    /// The frame goes to the slow path for this reason.
    Exception(&'static str),
}

struct Route {
    network: u32,
    length: u32,
    target: Target,
}

enum Target {
    /// The router itself.
    Local,
    /// Nowhere.
    Discard,
    Hop(Hop),
}

struct Hop {
    port: usize,
    mac: [u8; 6],
    mtu: usize,
}

/// A router as its project file describes it.
pub struct Router {
    routes: Vec<Route>,
    port_macs: Vec<[u8; 6]>,
    /// Whether a route must lead back to the source.
    checks_sources: bool,
}

fn mac(text: &str) -> [u8; 6] {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|b| u8::from_str_radix(b, 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

/// A key of a project file, or of the file beside it that it extends.
pub fn project_table(project: &Path) -> toml::Table {
    let table: toml::Table = std::fs::read_to_string(project).unwrap().parse().unwrap();
    match table.get("extends").and_then(toml::Value::as_str) {
        Some(other) => project_table(&project.with_file_name(other)),
        None => table,
    }
}

impl Router {
    /// Reads ports and routes from a project file under `microcode`, which is
    /// plain TOML, or from the one beside it that it extends. A router that has a
    /// counter for it validates sources.
    pub fn of(project: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
        Self::from_table(&project_table(&folder.join(project)))
    }

    fn from_table(table: &toml::Table) -> Self {
        let checks_sources = table["counter"]
            .as_array()
            .unwrap()
            .iter()
            .any(|counter| counter["name"].as_str() == Some("DROP_SOURCE"));
        let is = |route: &toml::Value, key: &str| {
            route.get(key).and_then(toml::Value::as_bool) == Some(true)
        };
        let port_macs = table["port"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| mac(p["mac"].as_str().unwrap()))
            .collect();
        let typed = table["route"].as_array().unwrap().iter().map(|route| {
            let (address, length) = route["prefix"].as_str().unwrap().split_once('/').unwrap();
            Route {
                network: address.parse::<Ipv4Addr>().unwrap().into(),
                length: length.parse().unwrap(),
                target: if is(route, "local") {
                    Target::Local
                } else if is(route, "discard") {
                    Target::Discard
                } else {
                    Target::Hop(Hop {
                        port: route["port"].as_integer().unwrap() as usize,
                        mac: mac(route["mac"].as_str().unwrap()),
                        mtu: route["mtu"].as_integer().unwrap() as usize,
                    })
                },
            }
        });
        let mut routes: Vec<_> = typed.collect();
        let forwarded = is(&table["routes"], "directed_broadcasts");
        let ports = table["port"].as_array().unwrap().iter();
        for own in ports.filter_map(|port| port.get("address")) {
            let (address, length) = own.as_str().unwrap().split_once('/').unwrap();
            let address: u32 = address.parse::<Ipv4Addr>().unwrap().into();
            let host = u32::MAX >> length.parse::<u32>().unwrap();
            let mut own = vec![address];
            if !forwarded {
                own.extend([address & !host, address | host]);
            }
            routes.extend(own.into_iter().map(|network| Route {
                network,
                length: 32,
                target: Target::Local,
            }));
        }
        Self {
            routes,
            port_macs,
            checks_sources,
        }
    }

    /// The longest matching prefix, by checking every route.
    fn route(&self, destination: u32) -> Option<&Route> {
        self.routes
            .iter()
            .filter(|r| r.length == 0 || (destination ^ r.network) >> (32 - r.length) == 0)
            .max_by_key(|r| r.length)
    }

    /// The required outcome of a frame, as it was captured.
    pub fn fate(&self, captured: &[u8]) -> Fate {
        let mut frame = captured.to_vec();
        frame.resize(frame.len().max(60), 0);
        if frame[12..14] != [0x08, 0x00] {
            return Fate::Exception("not IPv4");
        }
        if frame[0] & 1 == 1 {
            return Fate::Exception("link-level broadcast or multicast");
        }
        let (version, header_longwords) = (frame[14] >> 4, frame[14] & 15);
        if version != 4 {
            return Fate::Dropped("DROP_VERSION");
        }
        if header_longwords < 5 {
            return Fate::Dropped("DROP_LENGTH");
        }
        if header_longwords > 5 {
            return Fate::Exception("IPv4 options");
        }
        let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        if total > frame.len() - 14 || total < 20 {
            return Fate::Dropped("DROP_LENGTH");
        }
        if checksum(&frame[14..34]) != 0 {
            return Fate::Dropped("DROP_CHECKSUM");
        }
        let source = u32::from_be_bytes(frame[26..30].try_into().unwrap());
        let destination = u32::from_be_bytes(frame[30..34].try_into().unwrap());
        if matches!(source >> 24, 0 | 127 | 224..) || matches!(destination >> 24, 0 | 127) {
            return Fate::Dropped("DROP_MARTIAN");
        }
        if matches!(destination >> 24, 224..240) || destination == u32::MAX {
            return Fate::Exception("IPv4 multicast or broadcast");
        }
        if destination >> 24 >= 240 {
            return Fate::Dropped("DROP_MARTIAN");
        }
        if self.checks_sources
            && matches!(
                self.route(source).map(|back| &back.target),
                None | Some(Target::Discard)
            )
        {
            return Fate::Dropped("DROP_SOURCE");
        }
        let hop = match self.route(destination).map(|route| &route.target) {
            None => return Fate::Exception("no route"),
            Some(Target::Local) => return Fate::Exception("for the router itself"),
            Some(Target::Discard) => return Fate::Dropped("DROP_DISCARD"),
            Some(Target::Hop(hop)) => hop,
        };
        if frame[22] <= 1 {
            return Fate::Exception("time to live exceeded");
        }
        if total > hop.mtu {
            return Fate::Exception("larger than the next hop's MTU");
        }
        frame[..6].copy_from_slice(&hop.mac);
        frame[6..12].copy_from_slice(&self.port_macs[hop.port]);
        frame[22] -= 1;
        frame[24..26].fill(0);
        let sum = checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        Fate::Forwarded(hop.port, frame)
    }
}

/// RFC 1071 over a whole header: 0 for a header with a correct checksum.
pub fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
