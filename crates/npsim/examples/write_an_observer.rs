//! An observer of your own: a project is run, and what happens to its frames is
//! written as CSV.
//!
//! ```text
//! cargo run --release -p npsim --example write_an_observer > frames.csv
//! ```
//!
//! An observer sees every event of a run, in the order of cycles, and changes nothing. This one
//! picks three kinds of events out of some forty; see `TraceEvent` for the others.

use npsim::chip::Cycle;
use npsim::chip::kernel::observer::Observer;
use npsim::chip::kernel::trace_event::TraceEvent;
use npsim::chip::watch::Sampler;
use npsim::system::{System, Traffic};

/// A row for each arrival, departure and loss of a frame.
struct FrameRows(Vec<String>);

/// A run can sample the chip at intervals too; the default does not.
impl Sampler for FrameRows {}

impl Observer for FrameRows {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        let (what, port, frame) = match *event {
            TraceEvent::Arrives { port, frame, .. } => ("arrives", port, Some(frame)),
            TraceEvent::Dropped { port, frame, .. } => ("dropped", port, frame),
            TraceEvent::Departed { port, frame, .. } => ("departed", port, frame),
            _ => return,
        };
        let frame = frame.map_or(String::new(), |number| number.to_string());
        self.0.push(format!("{at},{what},{port},{frame}"));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
    let mut run = System::load(folder)?.start(Traffic::load("0.33")?.lasting("100us")?)?;
    let rows = run.observe(FrameRows(Vec::new()))?.0;
    println!("cycle,event,port,frame\n{}", rows.join("\n"));
    let departed = rows.iter().filter(|row| row.contains("departed")).count();
    assert_eq!(departed as u64, run.report().packets.sent);
    Ok(())
}
