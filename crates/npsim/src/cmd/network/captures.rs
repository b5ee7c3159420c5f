//! What links carry, as captures.

use std::io;

use npsim::problem::Problem;
use npsim_net::egress::PcapSink;
use npsim_network::file::NetworkFile;
use npsim_network::topology::Topology;
use npsim_network::{Frame, Tap};
use npsim_transport::time::Time;

use super::LinkCapture;

/// Ethernet addresses of the ends of a link, made up: locally administered.
const ENDS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
/// Ethernet's type of IPv4.
const IPV4: [u8; 2] = [8, 0];
/// Picoseconds in a nanosecond.
const NANOSECOND: Time = 1_000;

/// The captures of a run.
pub struct Captures {
    links: Vec<(usize, PcapSink)>,
    topology: Topology,
    scale: u64,
    /// The first thing that could not be written.
    failed: Option<io::Error>,
}

impl Captures {
    /// Opens the files.
    pub fn create(file: &NetworkFile, wanted: &[LinkCapture]) -> Result<Self, Problem> {
        let links = &file.topology.links;
        let open = |capture: &LinkCapture| {
            let found = links.iter().position(|link| link.name == capture.link);
            let Some(link) = found else {
                let names = links.iter().map(|link| link.name.as_str());
                let problem = Problem::new(format!("there is no link `{}`", capture.link));
                return Err(match npsim_asm::spelling::closest(&capture.link, names) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem,
                });
            };
            let sink = PcapSink::create(&capture.file);
            let sink = sink.map_err(|error| Problem::io("write", &capture.file, &error))?;
            Ok((link, sink))
        };
        Ok(Self {
            links: wanted.iter().map(open).collect::<Result<_, _>>()?,
            topology: file.topology.clone(),
            scale: file.scale,
            failed: None,
        })
    }

    /// # Errors
    /// Something could not be written.
    pub fn check(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Gives the files their names.
    pub fn finish(self) -> io::Result<()> {
        { self.links.into_iter() }.try_for_each(|(_, sink)| sink.finish())
    }
}

impl Tap for Captures {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        for (link, sink) in &mut self.links {
            if *link != line / 2 {
                continue;
            }
            let side = line % 2;
            let mut bytes = [ENDS[1 - side].as_slice(), &ENDS[side], &IPV4].concat();
            match frame.to_bytes(&self.topology) {
                Ok(packet) => bytes.extend(packet),
                Err(error) => {
                    self.failed = Some(io::Error::other(error));
                    return;
                }
            }
            // In the file's own time.
            let time = now.saturating_mul(self.scale) / NANOSECOND;
            if let Err(error) = sink.write(time, &bytes) {
                self.failed = Some(error);
            }
        }
    }
}
