//! Caveats that a reader of a network's results should know.

use std::collections::BTreeSet;

use npsim_transport::Scheme;

use crate::file::NetworkFile;
use npsim_network::chips::System;
use npsim_network::routes::Routes;
use npsim_network::topology::{NodeKind, RouterLaw, Transport};

/// Slow-path tasks whose times belong to a control law.
const LAWS: [&str; 3] = ["quick-start", "xcp", "rcp"];

/// Returns the caveats of a network and the systems on its chips, one sentence each.
#[must_use]
pub fn advisories(file: &NetworkFile, systems: &[System]) -> Vec<String> {
    let routes = Routes::of(&file.topology);
    let mut advisories = narrow(file, &routes);
    advisories.extend(unanswered(file, &routes, systems));
    advisories.extend(unscaled(file, systems));
    advisories
}

/// Reports flows whose slowest line is not watched: their queue builds up where none was intended.
fn narrow(file: &NetworkFile, routes: &Routes) -> Vec<String> {
    let topology = &file.topology;
    let mut told = BTreeSet::new();
    let mut advisories = Vec::new();
    for flow in &topology.flows {
        // Among equally slow lines, a watched one comes first.
        let rank = |line: &usize| (topology.line(*line).rate, !topology.is_watched(*line));
        let slowest = routes
            .lines_between(topology, flow.from, flow.to)
            .min_by_key(rank);
        let Some(line) = slowest.filter(|line| !topology.is_watched(*line)) else {
            continue;
        };
        if told.insert(line) {
            advisories.push(format!(
                "the slowest line on the way of `{}` is `{}`, before which the queue is endless",
                flow.name,
                topology.line_name(line)
            ));
        }
    }
    advisories
}

/// A transport whose senders rely on what routers write into their packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    Xcp,
    XcpOption,
    Rcp,
    QuickStart,
}

impl Asked {
    /// Returns what a flow needs from routers, if anything.
    const fn of(transport: &Transport) -> Option<Self> {
        match transport {
            Transport::Rcp { .. } => Some(Self::Rcp),
            Transport::Constant { .. } => None,
            Transport::Tcp { scheme, .. } => match scheme {
                Scheme::Xcp(_) => Some(Self::Xcp),
                Scheme::XcpOption(_) => Some(Self::XcpOption),
                Scheme::QuickStart(_) => Some(Self::QuickStart),
                _ => None,
            },
        }
    }

    /// Returns the name in network files and of the tasks of projects.
    const fn name(self) -> &'static str {
        match self {
            Self::Xcp => "xcp",
            Self::XcpOption => "xcp-option",
            Self::Rcp => "rcp",
            Self::QuickStart => "quick-start",
        }
    }

    /// Whether a router supports it; `None` for a node that is not a router.
    fn is_answered(self, node: usize, file: &NetworkFile, systems: &[System]) -> Option<bool> {
        match &file.topology.nodes[node].kind {
            NodeKind::Router { law, .. } => Some(matches!(
                (self, law),
                (Self::Xcp, RouterLaw::Xcp { .. })
                    | (Self::XcpOption, RouterLaw::XcpOption { .. })
                    | (Self::Rcp, RouterLaw::Rcp { .. })
                    | (Self::QuickStart, RouterLaw::QuickStart { .. })
            )),
            NodeKind::Chip { .. } => {
                let system = systems.iter().find(|system| system.node == node)?;
                let mut tasks = system.project.boot.tasks.iter();
                Some(tasks.any(|task| task.name() == self.name()))
            }
            _ => None,
        }
    }

    /// Describes what happens to senders without support.
    const fn alone(self) -> &'static str {
        match self {
            Self::Xcp | Self::XcpOption => {
                "its queue gives no feedback, and only losses stop senders"
            }
            Self::Rcp => "the rates given to senders do not account for its line",
            Self::QuickStart => "requests that pass it are never approved",
        }
    }
}

/// Reports routers on the paths of flows that need support which these routers lack.
fn unanswered(file: &NetworkFile, routes: &Routes, systems: &[System]) -> Vec<String> {
    let topology = &file.topology;
    let mut told = BTreeSet::new();
    let mut advisories = Vec::new();
    for flow in &topology.flows {
        let Some(asked) = Asked::of(&flow.transport) else {
            continue;
        };
        let mut is_known = false;
        let mut strangers = Vec::new();
        for line in routes.lines_between(topology, flow.from, flow.to) {
            let node = topology.links[line / 2].ends[line % 2];
            match asked.is_answered(node, file, systems) {
                Some(true) => is_known = true,
                Some(false) => strangers.push(node),
                None => {}
            }
        }
        for &node in &strangers {
            if told.insert((asked, Some(node))) {
                advisories.push(format!(
                    "router `{}` on the way of `{}` does not know `{}`: {}",
                    topology.nodes[node].name,
                    flow.name,
                    asked.name(),
                    asked.alone()
                ));
            }
        }
        if strangers.is_empty() && !is_known && told.insert((asked, None)) {
            advisories.push(format!(
                "no router is on the way of `{}` that would answer its `{}`",
                flow.name,
                asked.name()
            ));
        }
    }
    advisories
}

/// Reports chips whose control laws are slower than the network by its scale.
fn unscaled<'a>(file: &'a NetworkFile, systems: &'a [System]) -> impl Iterator<Item = String> + 'a {
    let plans = file.chips.iter().zip(systems);
    let plans = plans.filter(|_| file.scale > 1);
    plans.filter_map(|(plan, system)| {
        let tasks = system.project.boot.tasks.iter();
        let law = tasks.map(|task| task.name()).find(|name| LAWS.contains(name))?;
        let section = format!("gpp.{law}.");
        let mut set = plan.overrides.set.iter().map(ToString::to_string);
        if set.any(|setting| setting.starts_with(&section) && !setting.contains(".groups")) {
            return None;
        }
        let name = &file.topology.nodes[plan.node].name;
        Some(format!(
            "the times of [gpp.{law}] in the project of `{name}` are not divided by the scale of {}; `scaled` does that",
            file.scale
        ))
    })
}
