//! An observer of your own: a project is run, and what happens to its frames is
//! written as CSV.
//!
//! ```text
//! cargo run --release --example write_an_observer > frames.csv
//! ```
//!
//! An observer is told everything that happens in a run, in the order of cycles, and
//! changes nothing of it. This one picks three kinds of events out of some forty; see
//! `TraceEvent` for the others.

use std::error::Error;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use npsim::assemble::assemble_project;
use npsim::chip::Cycle;
use npsim::chip::kernel::observer::Observer;
use npsim::chip::kernel::trace_event::TraceEvent;
use npsim::chip::watch::Sampler;
use npsim::engine::ENGINE;
use npsim::load::{generator, resolved};
use npsim::net::load::Load;
use npsim::project::{Overrides, Project};
use npsim::registry;
use npsim::session::{Endpoints, Plan, Session};
use npsim::simulation::Settings;

/// What becomes of frames, a row each time.
#[derive(Default)]
struct FrameRows {
    csv: String,
    departed: u64,
}

impl FrameRows {
    fn row(&mut self, at: Cycle, what: &str, port: u8, frame: Option<u64>) {
        let frame = frame.map_or(String::new(), |number| number.to_string());
        writeln!(self.csv, "{at},{what},{port},{frame}").expect("a String takes all");
    }
}

/// A session asks for samples of the chip too, of which this needs none.
impl Sampler for FrameRows {}

impl Observer for FrameRows {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        match *event {
            TraceEvent::Arrives { port, frame, .. } => self.row(at, "arrives", port, Some(frame)),
            TraceEvent::Dropped { port, frame, .. } => self.row(at, "dropped", port, frame),
            TraceEvent::Departed { port, frame, .. } => {
                self.departed += 1;
                self.row(at, "departed", port, frame);
            }
            _ => {}
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The shipped forwarder, found from this crate's folder.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode/forward");
    let project = Project::load(&folder, &Overrides::default(), &registry())?;
    let (programs, messages) = assemble_project(&project);
    let programs = programs.ok_or_else(|| messages.rendered.join("\n"))?;

    // A third of the lines' rate, for 100 microseconds.
    let load = Load {
        rate: Some("0.33".parse()?),
        ..Load::default()
    };
    let load = resolved(load, &project);
    let frames = generator(&load, &project)?.map(Ok);
    let settings = Settings {
        until: Some(60_000),
        ..Settings::new(ENGINE)
    };
    let ends = Endpoints {
        frames: Some(Box::new(frames)),
        load: Some(load),
        ..Endpoints::default()
    };
    let mut session = Session::new(&Plan::one(project, programs, settings), ends)?;

    // One observer for each node; an ordinary run has one node.
    let mut rows = [FrameRows::default()];
    let go_on = &mut |_| ControlFlow::Continue(());
    while session.run_to(Cycle::MAX, &mut rows, go_on).is_none() {}
    session.finish()?;

    let [rows] = rows;
    print!("cycle,event,port,frame\n{}", rows.csv);
    // What the observer saw is what the chip counted.
    assert_eq!(rows.departed, session.node(0).traffic().sent_frames);
    assert!(rows.departed > 0, "frames were forwarded");
    Ok(())
}
