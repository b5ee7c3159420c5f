//! npsim in a program of ten lines: a project is loaded, given traffic, run and read.
//!
//! ```text
//! cargo run --release -p npsim --example run_a_router
//! ```

use npsim::system::{System, Traffic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
    let system = System::load(folder)?;
    let mut run = system.start_observed(Traffic::load("0.33")?.lasting("100us")?)?;
    run.finish()?;
    let packets = run.packets();
    println!(
        "{} of {} frames left",
        packets.len(),
        run.report().packets.offered
    );
    println!(
        "{}",
        run.bottleneck().ok_or("nothing was observed")?.headline
    );
    assert!(!packets.is_empty(), "frames were forwarded");
    Ok(())
}
