//! Captures of the traffic on links.

use std::io;
use std::path::{Path, PathBuf};

use npsim::problem::Problem;
use npsim_net::egress::{CaptureFormat, CapturePort, Position, TraceSink};
use npsim_network::ethernet::{Mac, with_ethernet_header};
use npsim_network::topology::{Link, Topology};
use npsim_network::{DropReason, Frame, Tap};
use npsim_network_file::checkpoint::Outputs;
use npsim_network_file::file::NetworkFile;
use npsim_transport::time::Time;

use super::arguments::LinkCapture;
use crate::cmd::continued_outputs::{OutputContinuation, incomplete_checkpoint};

/// Made-up Ethernet addresses of the ends of a link: locally administered.
const END_MACS: [Mac; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
/// Picoseconds per nanosecond.
const NANOSECOND: Time = 1_000;

/// A capture file and the links that it covers, with one interface for each end of a link.
struct LinkFile {
    path: PathBuf,
    form: CaptureFormat,
    links: Vec<usize>,
    sink: TraceSink,
}

/// The captures of a run.
pub struct Captures {
    files: Vec<LinkFile>,
    topology: Topology,
    scale: u64,
    /// The latest write error that has not been returned.
    failed: Option<Problem>,
}

impl Captures {
    /// Creates or resumes the files.
    pub fn open(
        file: &NetworkFile,
        wanted: &[LinkCapture],
        continuation: OutputContinuation<'_, Outputs>,
    ) -> Result<Self, Problem> {
        let mut asked: Vec<(&Path, Vec<usize>)> = Vec::new();
        for capture in wanted {
            let link = find(&file.topology.links, &capture.link)?;
            match asked.iter_mut().find(|(path, _)| *path == capture.file) {
                Some((_, links)) if links.contains(&link) => {}
                Some((_, links)) => links.push(link),
                None => asked.push((&capture.file, vec![link])),
            }
        }
        let open = |(number, (path, links)): (usize, (&Path, Vec<usize>))| {
            let form = CaptureFormat::of_name(path).unwrap_or(CaptureFormat::Pcap);
            if form == CaptureFormat::Pcap && links.len() > 1 {
                let message = format!(
                    "a classic pcap cannot distinguish links, and `{}` would have {}",
                    path.display(),
                    links.len()
                );
                return Err(Problem::new(message).help("let the name end in .pcapng"));
            }
            let interfaces: Vec<_> = { links.iter() }
                .flat_map(|&link| interfaces(file, &file.topology.links[link]))
                .collect();
            let sink = match continuation {
                OutputContinuation::NotKept => TraceSink::create(path, form, &interfaces),
                OutputContinuation::FromStart => {
                    TraceSink::create_resumable(path, form, &interfaces)
                }
                OutputContinuation::From(before) => match before.captures.get(number) {
                    Some(at) => TraceSink::resume(path, form, &interfaces, at),
                    None => return Err(incomplete_checkpoint("captures")),
                },
            };
            let sink = sink.map_err(|error| Problem::io("write", path, &error))?;
            let path = path.to_owned();
            Ok(LinkFile {
                path,
                form,
                links,
                sink,
            })
        };
        Ok(Self {
            files: { asked.into_iter().enumerate() }
                .map(open)
                .collect::<Result<_, _>>()?,
            topology: file.topology.clone(),
            scale: file.scale,
            failed: None,
        })
    }

    /// # Errors
    /// Returns an error if something could not be written.
    pub fn check(&mut self) -> Result<(), Problem> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The positions of the files, for a run that is resumed later.
    pub fn positions(&mut self) -> Result<Vec<Position>, Problem> {
        let mut positions = Vec::with_capacity(self.files.len());
        for LinkFile { path, sink, .. } in &mut self.files {
            let position = sink.position();
            positions.extend(position.map_err(|error| Problem::io("write", path, &error))?);
        }
        Ok(positions)
    }

    /// Completes the files and gives them their final names.
    pub fn finish(self) -> Result<(), Problem> {
        for LinkFile { path, sink, .. } in self.files {
            sink.finish()
                .map_err(|error| Problem::io("write", &path, &error))?;
        }
        Ok(())
    }

    /// Writes a frame that is at the beginning of a line.
    fn write(&mut self, now: Time, line: usize, frame: &Frame, fate: FrameFate) {
        let (link, side) = (line / 2, line % 2);
        // Converted to the time scale of the network file.
        let time = now.saturating_mul(self.scale) / NANOSECOND;
        for file in &mut self.files {
            let Some(place) = file.links.iter().position(|it| *it == link) else {
                continue;
            };
            let comment = match fate {
                FrameFate::Sent => None,
                FrameFate::Lost => Some("lost on the line"),
                // A classic pcap has no comments, so it contains only frames that were sent.
                FrameFate::Dropped(_) if file.form == CaptureFormat::Pcap => continue,
                FrameFate::Dropped(reason) => Some(dropped(reason)),
            };
            let written =
                with_ethernet_header(frame, &self.topology, END_MACS[1 - side], END_MACS[side])
                    .map_err(io::Error::other)
                    .and_then(|bytes| {
                        let interface = (2 * place + side) as u32;
                        file.sink.write_commented(interface, time, &bytes, comment)
                    });
            if let Err(error) = written {
                self.failed = Some(Problem::io("write", &file.path, &error));
            }
        }
    }
}

/// The outcome of a frame.
#[derive(Clone, Copy)]
enum FrameFate {
    Sent,
    Lost,
    Dropped(DropReason),
}

fn dropped(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Full => "dropped: the queue is full",
        DropReason::Early => "dropped: random early detection",
        DropReason::Forced => "dropped: the average queue is too long",
        DropReason::SlowPath => "dropped: for the slow path",
        DropReason::Microcode => "dropped by the microcode",
        DropReason::Media => "dropped at the media interface",
    }
}

impl Tap for Captures {
    fn watches(&self, line: usize) -> bool {
        let link = line / 2;
        self.files.iter().any(|file| file.links.contains(&link))
    }

    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.write(now, line, frame, FrameFate::Sent);
    }

    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        self.write(now, line, frame, FrameFate::Dropped(reason));
    }

    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        self.write(now, line, frame, FrameFate::Lost);
    }
}

fn find(links: &[Link], name: &str) -> Result<usize, Problem> {
    let found = links.iter().position(|link| link.name == name);
    found.ok_or_else(|| {
        let names = links.iter().map(|link| link.name.as_str());
        Problem::new(format!("there is no link `{name}`")).suggest(name, names)
    })
}

/// The ends of a link, with rates as in the network file.
fn interfaces(file: &NetworkFile, link: &Link) -> [CapturePort; 2] {
    [0, 1].map(|side| CapturePort {
        name: format!(
            "{} from {}",
            link.name, file.topology.nodes[link.ends[side]].name
        ),
        bits_per_second: link.lines[side].rate / file.scale,
    })
}
