//! A core of your own: a layer around the reference core that counts instructions by mnemonic.
//!
//! ```text
//! cargo run --release -p npsim --example write_a_core
//! ```

use std::collections::BTreeMap;

use npsim::chip::core::{ContextPhase, Core, CoreKind};
use npsim::chip::kernel::fabric::Fabric;
use npsim::core_layer::{CoreLayer, layer_of, layered};
use npsim::isa::CONTEXTS;
use npsim::reference::REFERENCE;
use npsim::system::{System, Traffic};
use serde::{Deserialize, Serialize};

/// How often each mnemonic was executed. The derived traits copy, save and restore it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Mnemonics(BTreeMap<String, u64>);

impl CoreLayer for Mnemonics {
    const NAME: &'static str = "mnemonics";
    const BASE: CoreKind = REFERENCE;

    /// In a turn the reference core executes the next instruction, waits with it, or chooses a
    /// context.
    fn run(&mut self, core: &mut dyn Core, fabric: &mut Fabric) {
        let executed = |core: &dyn Core| core.stats_at(core.local_time()).instructions;
        let before = executed(core);
        let mut contexts = (0..CONTEXTS).map(|context| core.context(context));
        let running = contexts.find(|it| it.phase == ContextPhase::Executing);
        core.run(fabric);
        if let Some(context) = running.filter(|_| executed(core) > before)
            && let Some(instruction) = core.program().image().instruction(context.pc)
        {
            let count = self.0.entry(instruction.mnemonic().to_owned());
            *count.or_default() += 1;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../microcode/forward");
    let traffic = Traffic::load("0.33")?.lasting("20us")?;
    let mut run = System::load(folder)?.start_on(traffic, layered::<Mnemonics>())?;
    run.finish()?;
    let report = run.report();
    for (me, core) in report.nodes[0]
        .chip
        .microengines
        .iter()
        .zip(run.chip().microengines())
    {
        let Mnemonics(counts) = layer_of(&**core).ok_or("another core")?;
        println!("microengine {}: {counts:?}", me.index);
        assert_eq!(counts.values().sum::<u64>(), me.instructions);
    }
    Ok(())
}
