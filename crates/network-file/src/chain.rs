//! A chain of equal routers between two open ends, built as a network file.
//!
//! Port 1 of each router is linked to port 0 of the next, and the open ends, named `0` and `1`, to the two
//! remaining ports. The routers keep their project's routes, so that a frame goes on by the port to which
//! the project routes it, in both directions.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;

use npsim_net::load::Prefix;
use npsim_project::problem::{Problem, Problems};
use npsim_project::quantity::Time;
use npsim_project::resolve::PortAddress;
use npsim_project::{Overrides, Project, Registry};
use npsim_session::session::MAX_ROUTERS;
use npsim_transport::time::{MICROSECOND, SECOND};

use crate::file::NetworkFile;

/// First two bytes of the networks of links between routers; the third byte numbers the links.
const LINKS: [[u8; 2]; 3] = [[172, 31], [192, 168], [10, 255]];

/// Creates a chain of this many routers, each with the target's project.
///
/// If ports 0 and 1 have addresses, each link between routers is a network of its own; the ports at the
/// open ends keep their addresses.
///
/// # Errors
/// Returns the errors of the project, or an error if it does not have two ports, or no addresses are left
/// for the links.
pub fn chain(
    target: &Path,
    routers: usize,
    overrides: &Overrides,
    registry: &Registry,
) -> Result<NetworkFile, Problems> {
    let project = Project::load(target, overrides, registry)?;
    let text = text(&project, target, routers)?;
    let mut file = NetworkFile::parse(&format!("chain of {routers} routers"), &text)?;
    for plan in &mut file.chips {
        target.clone_into(&mut plan.system);
        let own = std::mem::take(&mut plan.overrides.set);
        plan.overrides = overrides.clone();
        plan.overrides.set.extend(own);
    }
    Ok(file)
}

fn text(project: &Project, target: &Path, routers: usize) -> Result<String, Problem> {
    let [first, second, ..] = &project.boot.ports[..] else {
        let count = project.boot.ports.len();
        let message = format!(
            "a chain leads from port 0 of a router to its port 1, and the project has {count} ports"
        );
        return Err(Problem::new(message).help("give it a [[port]] for each of both"));
    };
    if !(1..=MAX_ROUTERS).contains(&routers) {
        let message = format!("there is no chain of {routers} routers");
        return Err(Problem::new(message).help(format!("a chain has 1 to {MAX_ROUTERS}")));
    }
    let rate = first.bits_per_second.min(second.bits_per_second);
    let delay = match project.link_delay {
        Time::Picoseconds(time) => time,
        Time::Cycles(cycles) => {
            let time = u128::from(cycles) * u128::from(SECOND);
            u64::try_from(time / u128::from(project.capacity.hertz.max(1))).unwrap_or(u64::MAX)
        }
    };
    let delay = delay.max(MICROSECOND);
    let addresses = addresses(project, routers)?;
    let mut text = format!("name = {}\nuntil = \"1s\"\n", quoted(&project.name));
    for (end, router) in [(0, 0), (1, routers - 1)] {
        let own = addresses[router][end].or_else(|| project.addresses.get(end)?.last().copied());
        let host = own.and_then(|own| neighbour(project, end, own));
        let _ = write!(text, "[[host]]\nname = \"{end}\"\nkind = \"interface\"\n");
        if let (Some(host), Some(own)) = (host, own) {
            let _ = writeln!(text, "address = \"{host}/{}\"", own.length);
        }
    }
    for (number, own) in (1..).zip(&addresses) {
        let system = quoted(&target.display().to_string());
        let _ = write!(
            text,
            "[[router]]\nname = \"r{number}\"\nsystem = {system}\nroutes = \"project\"\n"
        );
        let set = { own.iter().enumerate() }
            .filter_map(|(port, own)| Some(format!("port.{port}.address = \"{}\"\n", (*own)?)));
        let _ = write!(text, "[router.set]\n{}", set.collect::<String>());
    }
    for number in 0..=routers {
        let before = if number == 0 {
            "0".to_owned()
        } else {
            format!("r{number}:1")
        };
        let behind = if number == routers {
            "1".to_owned()
        } else {
            format!("r{}:0", number + 1)
        };
        // The link to an open end is not part of the chain.
        let is_inner = (1..routers).contains(&number);
        let delay = if is_inner { delay } else { MICROSECOND };
        let _ = write!(
            text,
            "[[link]]\nbetween = [\"{before}\", \"{behind}\"]\nrate = \"{rate}bps\"\ndelay = \"{}\"\n",
            Time::Picoseconds(delay)
        );
    }
    Ok(text)
}

/// Returns the addresses of ports 0 and 1 that are set for each router; `None` where the project's is
/// kept.
fn addresses(project: &Project, routers: usize) -> Result<Vec<[Option<PortAddress>; 2]>, Problem> {
    let own = |port: usize| project.addresses.get(port).map_or(&[][..], Vec::as_slice);
    let mut addresses = vec![[None; 2]; routers];
    if own(0).len().max(own(1).len()) > 1 {
        // Each router has its own addresses in the project.
        for (router, set) in addresses.iter_mut().enumerate() {
            *set = [0, 1].map(|port| own(port).get(router).copied());
        }
    } else if !own(0).is_empty() && !own(1).is_empty() && routers > 1 {
        let [a, b] = links(project)?;
        for link in 1..routers {
            let end = |last| PortAddress {
                address: Ipv4Addr::new(a, b, link as u8, last),
                length: 24,
            };
            addresses[link - 1][1] = Some(end(1));
            addresses[link][0] = Some(end(2));
        }
    }
    Ok(addresses)
}

/// Returns an entry of [`LINKS`] in which the project has neither addresses nor routes, except for a
/// default route.
fn links(project: &Project) -> Result<[u8; 2], Problem> {
    let own = project.addresses.iter().flatten();
    let own = own.map(|own| Prefix::new(own.address, own.length));
    let routed = project.routed.iter().copied();
    let taken: Vec<_> = own
        .chain(routed.filter(|it| !it.covers_all_addresses()))
        .collect();
    let is_free = |[a, b]: &[u8; 2]| {
        let links = Prefix::new(Ipv4Addr::new(*a, *b, 0, 0), 16);
        !taken.iter().any(|it| it.overlaps(links))
    };
    LINKS.into_iter().find(is_free).ok_or_else(|| {
        let names = LINKS.map(|[a, b]| format!("{a}.{b}.0.0/16")).join(", ");
        let message = format!("no addresses are left for the links between routers: the project has routes to, or ports in, each of {names}");
        Problem::new(message).help("write the chain as a network file, such as traces/live/three-routers.toml")
    })
}

/// Returns a host address on the network of a port: preferably a next hop of the project.
fn neighbour(project: &Project, port: usize, own: PortAddress) -> Option<Ipv4Addr> {
    let gateways = project
        .gateways
        .iter()
        .filter(|it| usize::from(it.port) == port);
    let first = Prefix::new(own.address, own.length).first().to_bits();
    let others = (0..4).map(|more| Ipv4Addr::from_bits(first.wrapping_add(more)));
    { gateways.map(|it| it.address).chain(others) }
        .find(|it| *it != own.address && own.link_contains(*it))
}

/// Formats a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
