//! `--screen`: the status of a live run, redrawn several times per second.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use npsim::assemble::Program;
use npsim::bottleneck::{self, Observed, Stage};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::report::NodeReport;
use npsim_debug::names::ProjectNames;
use npsim_inspect::stats::Stats;
use npsim_live::chip_watch::ChipWatch;
use npsim_live::clock::HostTime;
use npsim_live::live_run::{LiveEnding, Screen};
use npsim_live::one_chip::OneChip;
use npsim_live::open_network::OpenNetwork;
use npsim_live::status::LiveStatus;
use npsim_live::system::LiveSystem as _;
use npsim_terminal::{LiveKey, LivePicture, LiveSection, LiveTerminal};

use crate::cmd::screens;

/// The number of redraws over which rates are averaged.
const RATES_OVER: usize = 4;
/// The number of redraws between analyses of the bottleneck.
const ANALYSIS_EVERY: usize = 8;

/// Returns an error if no screen can be drawn.
pub fn check() -> Result<(), Problem> {
    if screens::has_screen() {
        return Ok(());
    }
    Err(
        Problem::new("`--screen` needs a terminal as standard input and output").help(
            "leave it out to get a status line every second; requests to `--control` show more",
        ),
    )
}

/// The part of the screen that is common to all systems.
pub struct StatusScreen {
    terminal: LiveTerminal,
    /// The status at the last redraws, oldest first.
    past: VecDeque<LiveStatus>,
}

/// The screen of one chip.
pub struct ChipScreen {
    status: StatusScreen,
    project: Project,
    programs: Vec<Program>,
    names: ProjectNames,
    bottleneck: Vec<String>,
    pictures: usize,
}

impl StatusScreen {
    /// Takes over the terminal.
    pub fn open() -> Result<Self, Problem> {
        Ok(Self {
            terminal: LiveTerminal::open(screens::theme()).map_err(|it| unusable(&it))?,
            past: VecDeque::new(),
        })
    }

    /// The clocks and the ports, with the rates of the last second.
    fn lines(&mut self, now: &LiveStatus, late: HostTime) -> (Vec<String>, LiveSection) {
        self.past.push_back(now.clone());
        if self.past.len() > RATES_OVER + 1 {
            self.past.pop_front();
        }
        let before = self.past.front().unwrap_or(now);
        let clocks = now.clocks_since(before, late);
        let ports = now.ports_since(before).into_iter();
        let mut lines: Vec<_> = ports.map(|it| it.1).collect();
        if lines.is_empty() {
            lines.push("no port is joined to an interface".to_owned());
        }
        let title = "Ports, the last second";
        (vec![format!(" {clocks}")], LiveSection { title, lines })
    }

    fn show(&mut self, picture: &LivePicture<'_>) -> Result<ControlFlow<LiveEnding>, Problem> {
        self.terminal.show(picture).map_err(|it| unusable(&it))?;
        Ok(match self.terminal.key().map_err(|it| unusable(&it))? {
            None => ControlFlow::Continue(()),
            Some(LiveKey::Quit) => ControlFlow::Break(LiveEnding::Ended),
            Some(LiveKey::Interrupt) => ControlFlow::Break(LiveEnding::Interrupted),
        })
    }
}

impl ChipScreen {
    /// Takes over the terminal, for a chip of this project.
    pub fn open(project: &Project, programs: &[Program]) -> Result<Self, Problem> {
        Ok(Self {
            status: StatusScreen::open()?,
            project: project.clone(),
            programs: programs.to_vec(),
            names: ProjectNames::of(project),
            bottleneck: vec!["the first two seconds are being watched".to_owned()],
            pictures: 0,
        })
    }

    /// What limited the chip while it was observed.
    fn analyse(&self, system: &OneChip, seen: &ChipWatch) -> Vec<String> {
        if seen.frames() == 0 {
            return vec!["no frame has come for two seconds".to_owned()];
        }
        let report = NodeReport::of(system.node(), &self.project, &self.programs, None);
        let analysis = bottleneck::analyse(&Observed {
            report: &report,
            series: &seen.series,
            flow: &seen.flow,
            sections: &seen.sections,
            stages: &Stage::all(&self.project),
            locks: &self.project.boot.locks,
            clusters: self.project.profile.clusters(),
        });
        let evidence = analysis.evidence.into_iter().take(2);
        let evidence = evidence.map(|line| format!("- {line}"));
        std::iter::once(analysis.headline).chain(evidence).collect()
    }
}

impl Screen<OneChip> for ChipScreen {
    fn show(
        &mut self,
        system: &mut OneChip,
        status: &LiveStatus,
        late: HostTime,
    ) -> Result<ControlFlow<LiveEnding>, Problem> {
        if self.pictures.is_multiple_of(ANALYSIS_EVERY)
            && let Some(seen) = system.watch()
        {
            self.bottleneck = self.analyse(system, &seen);
        }
        self.pictures += 1;
        let (bar, ports) = self.status.lines(status, late);
        let stats = system.node().stats();
        let section = |title, lines| LiveSection { title, lines };
        let sections = [
            ports,
            section("Bottleneck", self.bottleneck.clone()),
            section("Drops", drops(&stats)),
            section("Slow path", slow_path(&stats)),
        ];
        self.status.show(&LivePicture {
            bar: &bar,
            sections: &sections,
            chip: Some((system.node().chip(), &self.names)),
        })
    }
}

impl Screen<OpenNetwork> for StatusScreen {
    fn show(
        &mut self,
        system: &mut OpenNetwork,
        status: &LiveStatus,
        late: HostTime,
    ) -> Result<ControlFlow<LiveEnding>, Problem> {
        let (bar, ports) = self.lines(status, late);
        let mut lines = system.inside("")?;
        if lines.is_empty() {
            lines.push("no packet waits at a link".to_owned());
        }
        let title = "Queues";
        let sections = [ports, LiveSection { title, lines }];
        StatusScreen::show(
            self,
            &LivePicture {
                bar: &bar,
                sections: &sections,
                chip: None,
            },
        )
    }
}

/// Frames lost at the media interface and by the microcode, by reason.
fn drops(stats: &Stats) -> Vec<String> {
    let media = stats.media.drops.iter();
    let media = media.map(|drop| (drop.frames, &drop.reason));
    let counters = stats.counters.iter().filter(|it| it.drop && it.value > 0);
    let counters = counters.map(|it| {
        (
            it.value,
            if it.text.is_empty() {
                &it.name
            } else {
                &it.text
            },
        )
    });
    let lines: Vec<_> = { media.chain(counters) }
        .map(|(frames, reason)| format!("{frames:>9} {reason}"))
        .collect();
    or_none(lines)
}

/// Packets that the core received, by reason.
fn slow_path(stats: &Stats) -> Vec<String> {
    let reasons = stats.gpp.reasons.iter().filter(|it| it.frames > 0);
    let reasons = reasons.map(|it| format!("{:>9} {}", it.frames, it.reason));
    let mut lines: Vec<_> = reasons.collect();
    if stats.gpp.made > 0 {
        lines.push(format!("{:>9} made by the core", stats.gpp.made));
    }
    or_none(lines)
}

fn or_none(mut lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    lines
}

fn unusable(error: &io::Error) -> Problem {
    Problem::new(format!("the terminal cannot be used: {error}"))
        .help("leave `--screen` out to get a status line every second")
}
