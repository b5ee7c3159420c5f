//! The examples of the instruction reference work as it describes.

use npsim::asm::{Includes, Options, assemble};
use npsim::chip::chip::{Chip, Stop};
use npsim::chip::core::CoreKind;
use npsim::chip::core::Program;
use npsim::chip::gpp::boot::BootPlan;
use npsim::chip::kernel::observer::NoObserver;
use npsim::chip::kernel::port_io::NoTraffic;
use npsim::engine::ENGINE;
use npsim::isa::{Example, mnemonics, physical_register};
use npsim_reference::REFERENCE;
use npsim_strategy::NEWEST;

use crate::harness::newest;

/// The one text of a program.
struct Text(String);

impl Includes for Text {
    fn load(&self, name: &str, _: Option<&str>) -> Result<(String, String), String> {
        Ok((name.to_owned(), self.0.clone()))
    }
}

/// What is wrong with an example on a core, if anything.
fn mistakes(example: &Example, core: CoreKind) -> Vec<String> {
    // One context runs it, and the registers keep its results.
    let text = format!(
        "br!=ctx[0, example_end#]\n{}\nexample_end#:\nctx_arb[kill]\n",
        example.text
    );
    let options = Options {
        generation: NEWEST.generation,
        ..Options::default()
    };
    let assembly = assemble("example.uc", &Text(text), &options);
    let Some(image) = assembly.image else {
        let messages = assembly.diagnostics.iter();
        return messages.map(|one| one.message.clone()).collect();
    };
    let profile = newest("ixp2400");
    let program = Program::new(&image, &profile).unwrap();
    let mut chip = Chip::new(core, profile, &BootPlan::default(), vec![(0, program)]).unwrap();
    let stop = chip.run(10_000, &mut NoTraffic, &mut NoObserver);
    if let Stop::Fault(_) = stop {
        return vec![format!("{:?}", chip.fault())];
    }
    let value = |register: &str| {
        let register = physical_register(register).expect("examples name registers by number");
        chip.microengines()[0].read_register(register, 0)
    };
    let differ = example.gives.iter().filter_map(|&(register, wanted)| {
        let found = value(register);
        (found != wanted).then(|| format!("{register} is {found:#x}, not {wanted:#x}"))
    });
    differ.collect()
}

#[test]
fn every_example_gives_its_stated_results_on_both_cores() {
    let mut wrong = Vec::new();
    for row in mnemonics() {
        let Some(example) = &row.example else {
            // No device answers on the PCI bus.
            assert_eq!(row.name, "pci", "{} has no example", row.name);
            continue;
        };
        let shown = row.spellings().any(|name| example.text.contains(name));
        assert!(shown, "the example of {} does not show it", row.name);
        for core in [ENGINE, REFERENCE] {
            let found = mistakes(example, core).into_iter();
            wrong.extend(found.map(|what| format!("{} ({}): {what}", row.name, core.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
