//! Links of a network file.

use npsim_project::problem::Problem;
use npsim_transport::time::{SECOND, Time};

use super::FileReading;
use super::quantities::{LimitText, limit};
use super::typed;
use npsim_network::ethernet;
use npsim_network::topology::{
    LineParameters, Link, Loss, Node, NodeKind, QueueLimit, QueueParameters, Red, Reorder,
};

/// Most links of a network.
const MAX_LINKS: usize = 16_384;

/// Bits per second of an ideal switch between a router's port and the hosts behind it, which adds no
/// significant time.
const IDEAL: u64 = 1_000_000_000_000_000;

impl FileReading {
    pub(super) fn link(&mut self, link: &typed::LinkSection) -> Result<(), Problem> {
        let rate = self.rate(&link.rate)?;
        let delay = self.time(&link.delay)?;
        let [first, second] = link.between.get_ref();
        let [(a, first_port), (b, second_port)] = [self.end(first)?, self.end(second)?];
        let ports = [first_port, second_port];
        let at_chip = ports.iter().any(Option::is_some);
        if at_chip {
            self.at_chip(link, ports, delay)?;
        }
        if a == b {
            let message = format!("`{}` is at both ends", first.get_ref());
            return Err(self.text.problem(link.between.span(), message));
        }
        let down = self.down(link)?;
        let line = |queue: Option<&typed::QueueSection>, loss, reorder| {
            Ok(LineParameters {
                overhead: link
                    .overhead
                    .unwrap_or(if at_chip { ethernet::overhead() } else { 0 }),
                least: if at_chip { ethernet::MIN_IP_BYTES } else { 0 },
                queue: self.queue(queue, rate)?,
                loss,
                reorder,
                down: down.clone(),
                ..LineParameters::new(rate, delay)
            })
        };
        let losses = link.loss.as_ref();
        let loss = |placed: Option<&toml::Spanned<f64>>| match placed {
            None => Ok(Loss::None),
            Some(placed) => Ok(Loss::Random(self.share(placed, 1.0)?)),
        };
        let forward = loss(losses.and_then(|loss| loss.forward.as_ref()))?;
        let back = loss(losses.and_then(|loss| loss.back.as_ref()))?;
        let [late, late_back] = self.reorder(link)?;
        let lines = [
            line(link.queue.as_ref(), forward, late)?,
            line(link.queue_back.as_ref(), back, late_back)?,
        ];
        for (port, group) in ports.iter().zip([&a, &b]) {
            if let Some(port) = port {
                let link = self.topology.links.len();
                self.connect(group.start, *port, link);
            }
        }
        let name = link.name.as_ref().map_or_else(
            || format!("{}-{}", first.get_ref(), second.get_ref()),
            |name| name.get_ref().clone(),
        );
        let known = { self.topology.links.iter() }.any(|other| other.name == name);
        if let Some(placed) = link.name.as_ref().filter(|_| known) {
            let message = format!("there are two links with the name `{name}`");
            return Err(self.text.problem(placed.span(), message));
        }
        let router = |group: &std::ops::Range<usize>| {
            let kind = &self.topology.nodes[group.start].kind;
            matches!(kind, NodeKind::Router { .. } | NodeKind::Chip { .. })
        };
        // A router's port has a single line, which a group of hosts shares through a switch.
        let shared = (a.len() > 1 && router(&b)) || (b.len() > 1 && router(&a));
        let count = a.len().max(b.len());
        if self.topology.links.len() + count + usize::from(shared) > MAX_LINKS {
            let message = format!(
                "a network has at most {MAX_LINKS} links, and with {} the file has more",
                if count == 1 { "this one" } else { "these" }
            );
            let problem = self.text.problem(link.between.span(), message);
            return Err(problem.help("each host of a group has a link of its own"));
        }
        if shared {
            self.room(link.between.span(), 1)?;
            self.shared(&name, [a, b], lines);
            return Ok(());
        }
        if a.len() > 1 && b.len() > 1 && a.len() != b.len() {
            let message = format!(
                "{} and {} nodes cannot be joined in pairs",
                a.len(),
                b.len()
            );
            return Err(self.text.problem(link.between.span(), message));
        }
        for number in 0..count {
            let member = |group: &std::ops::Range<usize>| group.start + number % group.len();
            self.topology.links.push(Link {
                name: if count == 1 {
                    name.clone()
                } else {
                    format!("{name}{number}")
                },
                ends: [member(&a), member(&b)],
                lines: lines.clone(),
            });
        }
        Ok(())
    }

    /// Returns the periods in which a link is down.
    fn down(&self, link: &typed::LinkSection) -> Result<Vec<(Time, Time)>, Problem> {
        let periods = link.down.iter().flatten();
        let periods = periods.map(|[from, until]| {
            let (begin, end) = (self.time(from)?, self.time(until)?);
            if begin < end {
                return Ok((begin, end));
            }
            let message = "the link would be up again before it is down";
            let problem = self.text.problem(until.span(), message);
            Err(problem.help("write for example `down = [[\"1s\", \"2s\"]]`"))
        });
        periods.collect()
    }

    /// Returns the late packets of a link, in both directions.
    fn reorder(&self, link: &typed::LinkSection) -> Result<[Option<Reorder>; 2], Problem> {
        let Some(reorder) = link.reorder.as_ref().map(toml::Spanned::get_ref) else {
            return Ok([None; 2]);
        };
        let by = self.time(&reorder.by)?;
        let late = |placed: Option<&toml::Spanned<f64>>| {
            let share = placed.map(|placed| self.share(placed, 1.0)).transpose()?;
            Ok(share.map(|chance| Reorder { chance, by }))
        };
        Ok([
            late(reorder.forward.as_ref())?,
            late(reorder.back.as_ref())?,
        ])
    }

    /// Creates one link between a router and a switch with the hosts behind it.
    fn shared(
        &mut self,
        name: &str,
        [a, b]: [std::ops::Range<usize>; 2],
        lines: [LineParameters; 2],
    ) {
        let switch = self.topology.nodes.len();
        self.topology.nodes.push(Node {
            name: format!("{name}:switch"),
            kind: NodeKind::Switch,
        });
        let hosts = if a.len() > 1 { a.clone() } else { b.clone() };
        let ends = [a, b].map(|group| if group.len() > 1 { switch } else { group.start });
        self.topology.links.push(Link {
            name: name.to_owned(),
            ends,
            lines,
        });
        for host in hosts {
            let line = LineParameters::new(IDEAL, 0);
            self.topology.links.push(Link {
                name: format!("{name}:{}", self.topology.nodes[host].name),
                ends: [switch, host],
                lines: [line.clone(), line],
            });
        }
    }

    fn queue(
        &self,
        queue: Option<&typed::QueueSection>,
        rate: u64,
    ) -> Result<QueueParameters, Problem> {
        let Some(queue) = queue else {
            return Ok(QueueParameters {
                limit: QueueLimit::None,
                red: None,
            });
        };
        let text = limit(queue.limit.get_ref());
        let text = text.map_err(|message| self.text.problem(queue.limit.span(), message))?;
        let packet = queue.packet.unwrap_or(1_000).max(1);
        let limit = match (text, &queue.rtt) {
            (LimitText::Unlimited, _) => QueueLimit::None,
            (LimitText::Packets(packets), _) => QueueLimit::Packets(packets),
            (LimitText::Bytes(bytes), _) => QueueLimit::Bytes(bytes),
            (LimitText::Products(part, of), Some(rtt)) => {
                let bytes = product(rate, self.time(rtt)?, (part, of));
                if bytes == 0 && part > 0 {
                    let text = queue.limit.get_ref();
                    let message = format!("`{text}` is less than a byte");
                    return Err(self.text.problem(queue.limit.span(), message));
                }
                QueueLimit::Bytes(bytes)
            }
            (LimitText::Products(..), None) => {
                let message = "bandwidth-delay products need the round-trip time";
                let problem = self.text.problem(queue.limit.span(), message);
                return Err(problem.help("add for example `rtt = \"500ms\"`"));
            }
        };
        let red = match &queue.kind {
            None => false,
            Some(placed) => {
                self.word(placed, "kind of queue", &[("fifo", false), ("red", true)])?
            }
        };
        if !red {
            return Ok(QueueParameters { limit, red: None });
        }
        let room = match limit {
            QueueLimit::Packets(room) | QueueLimit::Bytes(room) if room < 1 << 31 => room,
            QueueLimit::Packets(_) | QueueLimit::Bytes(_) => {
                let message = "random early detection counts to 2^31";
                return Err(self.text.problem(queue.limit.span(), message));
            }
            QueueLimit::None => {
                let message = "random early detection needs a limit";
                return Err(self.text.problem(queue.limit.span(), message));
            }
        };
        let share = |placed: Option<&toml::Spanned<f64>>, usual: u32| {
            placed.map_or(Ok(usual), |placed| self.share(placed, 1.0))
        };
        let (least, most) = (
            share(queue.least.as_ref(), 250_000)?,
            share(queue.most.as_ref(), 750_000)?,
        );
        if let Some(placed) = queue.least.as_ref().or(queue.most.as_ref())
            && least > most
        {
            let message = format!(
                "random early detection would begin at {} of the limit and drop all from {} on",
                f64::from(least) / 1e6,
                f64::from(most) / 1e6
            );
            let problem = self.text.problem(placed.span(), message);
            return Err(
                problem.help("`least` is not above `most`; left out they are 0.25 and 0.75")
            );
        }
        let part = |placed: Option<&toml::Spanned<f64>>, share: u32| {
            let length = (u128::from(room) * u128::from(share) / 1_000_000) as u64;
            if let Some(placed) = placed.filter(|_| length == 0 && share > 0 && room > 0) {
                let text = queue.limit.get_ref();
                let message = format!("`{}` of `{text}` is 0", placed.get_ref());
                return Err(self.text.problem(placed.span(), message));
            }
            Ok(length)
        };
        Ok(QueueParameters {
            limit,
            red: Some(Red {
                least: part(queue.least.as_ref(), least)?,
                most: part(queue.most.as_ref(), most)?,
                weight: share(queue.weight.as_ref(), 2_000)?,
                chance: share(queue.chance.as_ref(), 100_000)?,
                gentle: queue.gentle.unwrap_or(false),
                packet,
            }),
        })
    }
}

/// Returns the bytes of a fraction of a bandwidth-delay product.
fn product(rate: u64, rtt: Time, (part, of): (u64, u64)) -> u64 {
    let bits = u128::from(rate) * u128::from(rtt) / u128::from(SECOND);
    let bytes = bits / 8 * u128::from(part) / u128::from(of);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
