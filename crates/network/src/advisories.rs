//! What a reader of a network's results should know before they believe them.

use std::collections::BTreeSet;

use crate::chips::System;
use crate::file::NetworkFile;
use crate::routes::Routes;

/// Tasks of the slow path whose times are a control law's.
const LAWS: [&str; 3] = ["quick-start", "xcp", "rcp"];

/// Remarks on a network and what its chips run, a sentence each.
#[must_use]
pub fn advisories(file: &NetworkFile, systems: &[System]) -> Vec<String> {
    let mut advisories = narrow(file);
    advisories.extend(unscaled(file, systems));
    advisories
}

/// Flows whose slowest line is not watched: their queue builds up where it was not meant to.
fn narrow(file: &NetworkFile) -> Vec<String> {
    let topology = &file.topology;
    let routes = Routes::of(topology);
    let mut told = BTreeSet::new();
    let mut advisories = Vec::new();
    for flow in &topology.flows {
        let mut at = flow.from;
        let mut slowest: Option<usize> = None;
        while at != flow.to {
            let Some(line) = routes.line(at, flow.to) else {
                break;
            };
            let rate = |line: usize| topology.line(line).rate;
            // Of equals it is the one that is watched.
            let rank = |line: usize| (rate(line), !topology.is_watched(line));
            if slowest.is_none_or(|other| rank(line) < rank(other)) {
                slowest = Some(line);
            }
            at = topology.links[line / 2].ends[1 - line % 2];
        }
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

/// Chips whose control laws are slower than the network by its scale.
fn unscaled<'a>(file: &'a NetworkFile, systems: &'a [System]) -> impl Iterator<Item = String> + 'a {
    let plans = file.chips.iter().zip(systems);
    let plans = plans.filter(|_| file.scale > 1);
    plans.filter_map(|(plan, system)| {
        let tasks = system.project.boot.tasks.iter();
        let law = tasks.map(|task| task.name()).find(|name| LAWS.contains(name))?;
        let section = format!("gpp.{law}.");
        let mut set = plan.set.iter().map(ToString::to_string);
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
