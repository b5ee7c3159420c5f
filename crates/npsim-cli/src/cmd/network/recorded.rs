//! Recordings of live network runs, whose frames are replayed at the open ends.

use std::path::{Path, PathBuf};

use npsim::problem::Problem;
use npsim::project::Project;
use npsim::recorded::differences;
use npsim_live::open_ends::{DepartureCapture, OpenEnds, RecordedArrivals};
use npsim_live::open_network::route_command;
use npsim_net::capture::CaptureError;
use npsim_net::egress::{CaptureFormat, TraceSink};
use npsim_net::pace::{Pace, PortAssignment, Replay};
use npsim_net::recording::{RecordingHead, RecordingSurvey, survey};
use npsim_network::Network;
use npsim_network::chips::System;
use npsim_network::topology::Topology;
use npsim_network_file::file::NetworkFile;
use npsim_transport::time::Time;

use super::arguments::Arguments;
use crate::output;

/// How long a network runs after the last frame of a recording without an end, which a killed run
/// leaves behind, in picoseconds.
const DRAIN: Time = 10_000_000_000;

/// Open ends at which a recording is replayed.
pub struct Recorded {
    ends: OpenEnds,
    arrivals: RecordedArrivals,
    start_seconds: u64,
    capture: Option<(DepartureCapture, PathBuf)>,
}

/// A surveyed recording.
pub struct Recording<'a> {
    path: &'a Path,
    survey: RecordingSurvey,
}

impl<'a> Recording<'a> {
    /// The recording given in the arguments, if any.
    pub fn of(arguments: &'a Arguments, target: &Path) -> Result<Option<Self>, Problem> {
        let Some(path) = arguments.recorded.as_deref() else {
            return Ok(None);
        };
        let survey = survey(path).map_err(|error| unreadable(&error))?;
        let head = &survey.head;
        if !head.is_network() {
            let message = "the recording is of one chip, and the target is a network";
            return Err(Problem::new(message).help(format!(
                "`npsim run {} --trace {} --pace recorded` repeats it",
                head.target,
                path.display()
            )));
        }
        let chain = arguments.chain(target).map(|chain| chain.to_string());
        let target = chain.as_ref().map_or(target, Path::new);
        for remark in differences(&survey, target, arguments.seed) {
            output::line(&format!("note: {remark}"));
        }
        Ok(Some(Self { path, survey }))
    }

    /// The seed of the recorded run.
    pub fn seed(&self) -> Option<u64> {
        self.survey.head.seed
    }

    /// Plans the recorded route changes in the chips of a network.
    ///
    /// # Errors
    /// Returns an error if there is no such router, or it cannot make the changes.
    pub fn plan_changes(&self, topology: &Topology, systems: &mut [System]) -> Result<(), Problem> {
        let head = &self.survey.head;
        let mut changes = vec![Vec::new(); systems.len()];
        for command in &self.survey.commands {
            if !Project::is_route_command(&command.text) {
                output::line(&format!(
                    "note: the command `{}` of the recording changes no routes and is ignored",
                    command.text
                ));
                continue;
            }
            let (router, change) = route_command(&command.text);
            let name = |system: &System| &topology.nodes[system.node].name;
            let Some(chip) = systems.iter().position(|system| name(system) == router) else {
                let message = format!(
                    "the recording changes routes of `{router}`, and no router of this name runs microcode"
                );
                return Err(Problem::new(message).help(remedy(head)));
            };
            let project = &systems[chip].project;
            let cycle = command.cycle(project.capacity.hertz);
            changes[chip].push(project.route_change(&change, cycle)?);
        }
        for (system, changes) in systems.iter_mut().zip(&changes) {
            let planned = system.project.plan_route_changes(changes);
            planned.map_err(|problem| problem.help(remedy(head)))?;
        }
        Ok(())
    }

    /// Prepares to replay the frames at the open ends of a network, which runs from the beginning
    /// of the recorded run to its end, unless it ends elsewhere.
    ///
    /// # Errors
    /// Returns an error if the recording is of another network, or damaged.
    pub fn replay(
        &self,
        file: &mut NetworkFile,
        ends_elsewhere: bool,
    ) -> Result<Recorded, Problem> {
        file.refuse_scale()?;
        let head = &self.survey.head;
        let ends = open_ends(file);
        let names = |ports: &[npsim_net::egress::CapturePort]| {
            let names = ports.iter().map(|port| format!("`{}`", port.name));
            names.collect::<Vec<_>>().join(", ")
        };
        let (recorded, now) = (names(&head.ports), names(ends.ports()));
        if recorded != now {
            let now = match &now[..] {
                "" => "none".to_owned(),
                now => now.to_owned(),
            };
            return Err(Problem::new(format!(
                "the recording has the open ends {recorded}, and the network {now}"
            ))
            .help(remedy(head)));
        }
        let assignment = PortAssignment::ByInterface;
        let replay = Replay::open(self.path, &ends.lines(), assignment, Pace::Recorded);
        let replay = replay.map_err(|error| Problem::new(error.to_string()).help(remedy(head)))?;
        if self.survey.incomplete_bytes > 0 {
            output::line(&format!(
                "note: the recording ends inside a block, as after its run was killed; {} bytes were ignored",
                self.survey.incomplete_bytes
            ));
        }
        file.from = 0;
        file.route_blocks = head.reserved_blocks();
        if !ends_elsewhere {
            let last = Time::try_from(replay.survey().plan.end_ps()).unwrap_or(Time::MAX);
            let end = { self.survey.end_ps }.unwrap_or_else(|| last.saturating_add(DRAIN));
            file.until = end.max(1);
        }
        let frames = replay.frames().map_err(|error| unreadable(&error))?;
        Ok(Recorded {
            ends,
            arrivals: RecordedArrivals::new(frames).map_err(|error| unreadable(&error))?,
            start_seconds: head.start_seconds,
            capture: None,
        })
    }
}

/// The hosts of a network that are interfaces, as open ends.
pub fn open_ends(file: &NetworkFile) -> OpenEnds {
    OpenEnds::new(&file.topology, file.interfaces.iter().map(|it| it.node))
}

/// A capture of the frames that leave at open ends; its times start at the given second since
/// 1970.
pub fn departures(
    path: &Path,
    ends: &OpenEnds,
    start_seconds: u64,
) -> Result<DepartureCapture, Problem> {
    let form = CaptureFormat::of_name(path).unwrap_or(CaptureFormat::Pcap);
    let sink = TraceSink::create(path, form, ends.ports());
    let sink = sink.map_err(|error| Problem::io("write", path, &error))?;
    Ok(DepartureCapture::new(sink, start_seconds))
}

impl Recorded {
    /// Captures the frames that leave.
    pub fn capture(&mut self, path: &Path) -> Result<(), Problem> {
        let capture = departures(path, &self.ends, self.start_seconds)?;
        self.capture = Some((capture, path.to_owned()));
        Ok(())
    }

    /// Admits all frames up to `until`, the time to which the network runs next.
    pub fn admit_until(&mut self, until: Time, network: &mut Network) -> Result<(), Problem> {
        let entered = self.arrivals.admit_until(until, &self.ends, network);
        entered.map_err(|error| unreadable(&error))
    }

    /// Takes the frames that have left, and captures them.
    pub fn capture_outgoing(&mut self, network: &mut Network) {
        for frame in network.take_outgoing() {
            if let (Some((capture, _)), Some(end)) = (&mut self.capture, self.ends.at(frame.node)) {
                capture.write(end, &frame);
            }
        }
    }

    /// Completes the capture.
    pub fn finish(self) -> Result<(), Problem> {
        let Some((capture, path)) = self.capture else {
            return Ok(());
        };
        let finished = capture.finish();
        finished.map_err(|error| Problem::io("write", &path, &error))
    }
}

fn unreadable(error: &CaptureError) -> Problem {
    Problem::new(error.to_string())
}

fn remedy(head: &RecordingHead) -> String {
    format!("run what was recorded, `{}`", head.target)
}
