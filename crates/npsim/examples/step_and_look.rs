//! A run that is stopped and looked into: at a cycle, and where a ring first has something.
//!
//! ```text
//! cargo run --release -p npsim --example step_and_look
//! ```

use npsim::system::{System, Traffic};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
    let mut run = System::load(folder)?.start(Traffic::load("0.33")?.lasting("20us")?)?;
    run.step(1000);
    for me in &run.report().nodes[0].chip.microengines {
        println!(
            "cycle {}: microengine {} executed {} instructions",
            run.now(),
            me.index,
            me.instructions
        );
    }
    while run.packets().is_empty() && run.step(100).is_none() {}
    println!("the first frame has left by cycle {}", run.now());
    println!(
        "scratch[0x100] is {:?}",
        run.chip().units().scratch.read(0x100)
    );
    run.finish()?;
    println!("the run ended at cycle {}", run.now());
    Ok(())
}
