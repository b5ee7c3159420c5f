//! The settings of a run, as its `--report` page shows them.

use npsim::report::{NodeReport, Report};
use npsim_net::pace::Pace;

use super::Arguments;

/// The settings to show on the page.
pub fn settings(
    arguments: &Arguments,
    report: &Report,
    node: &NodeReport,
) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    if let Some(target) = &arguments.target {
        add("Project", target.display().to_string());
    }
    if report.nodes.len() > 1 {
        add("Router", format!("{} of {}", node.node, report.nodes.len()));
    }
    if let Some(trace) = &arguments.system.trace {
        add("Capture", trace.display().to_string());
        let pace = arguments
            .system
            .speed
            .map_or(arguments.system.pace, |speed| Pace::Trace { speed });
        add("Pace", pace.to_string());
        add("Ports", arguments.system.ports.to_string());
    }
    if let Some(load) = &report.load {
        add("Traffic", format!("{load}, for {}", load.time));
    }
    if let Some(until) = arguments.system.until {
        add("Until", until.to_string());
    }
    if let Some(seed) = arguments.system.machine.seed {
        add("Seed", seed.to_string());
    }
    if !node.disturbances.is_none() {
        add("Disturbed", node.disturbances.lines().join("; "));
    }
    settings
}
