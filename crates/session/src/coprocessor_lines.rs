//! The lines of the summary about the feedback coprocessor.

use std::fmt::{self, Write};

use npsim_chip::stats::{CoprocessorStats, ModuleStats};

use npsim_project::quantity::grouped;

/// Writes a line for each module that was asked anything, or one that says that
/// none was.
pub(crate) fn write(out: &mut impl Write, coprocessor: &CoprocessorStats) -> fmt::Result {
    let (quick_start, xcp) = (&coprocessor.quick_start, &coprocessor.xcp);
    let place = format!("{} on sram{}", coprocessor.name, coprocessor.channel);
    if quick_start.requests == 0 && xcp.requests == 0 {
        return writeln!(out, "coprocessor  {place}: no requests");
    }
    if quick_start.requests > 0 {
        writeln!(
            out,
            "coprocessor  {place}: {} Quick-Start requests, granted {}, reduced {}, denied {}; {}",
            grouped(quick_start.requests),
            grouped(quick_start.granted),
            grouped(quick_start.reduced),
            grouped(quick_start.denied),
            used(&quick_start.module, quick_start.requests)
        )?;
    }
    if xcp.requests > 0 {
        writeln!(
            out,
            "coprocessor  {place}: {} XCP requests, passed {}, reduced {}; {}",
            grouped(xcp.requests),
            grouped(xcp.passed),
            grouped(xcp.reduced),
            used(&xcp.module, xcp.requests)
        )?;
    }
    Ok(())
}

fn used(module: &ModuleStats, requests: u64) -> String {
    format!(
        "busy {}.{}%, mean wait {} cycles",
        module.busy_permille / 10,
        module.busy_permille % 10,
        module.waiting / requests.max(1)
    )
}

#[cfg(test)]
mod tests {
    use npsim_chip::stats::{CoprocessorStats, ModuleStats, QuickStartStats};

    use super::write;

    #[test]
    fn a_line_for_each_module_that_was_asked() {
        let mut coprocessor = CoprocessorStats {
            name: "FEEDBACK".into(),
            channel: 1,
            ..CoprocessorStats::default()
        };
        let shown = |coprocessor: &CoprocessorStats| {
            let mut text = String::new();
            write(&mut text, coprocessor).unwrap();
            text
        };
        assert_eq!(
            shown(&coprocessor),
            "coprocessor  FEEDBACK on sram1: no requests\n"
        );
        coprocessor.quick_start = QuickStartStats {
            requests: 1200,
            granted: 1000,
            reduced: 1,
            denied: 199,
            granted_units: 0,
            module: ModuleStats {
                period_picoseconds: 6000,
                busy: 4320,
                busy_permille: 144,
                waiting: 2400,
            },
        };
        assert_eq!(
            shown(&coprocessor),
            "coprocessor  FEEDBACK on sram1: 1,200 Quick-Start requests, granted 1,000, reduced 1, denied 199; busy 14.4%, mean wait 2 cycles\n"
        );
    }
}
