//! `--explain`: every assumption of a run, in one text.

use std::fmt::Write as _;

use super::Project;
use crate::quantity::show_rate;

impl Project {
    /// Returns a description of the resolved project: the project file if it is the default one,
    /// the programs, the memory map, and the names visible to sources.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = format!(
            "project {} on {}, board {}\n",
            self.name, self.capacity.name, self.capacity.board
        );
        // Writing to a String cannot fail.
        let _ = self.write_parts(&mut text);
        text
    }

    fn write_parts(&self, out: &mut String) -> std::fmt::Result {
        if self.is_default {
            writeln!(
                out,
                "\nThe project file that stands for a single source (`npsim new --from` writes it out):\n"
            )?;
            for line in self.text.text.lines() {
                writeln!(out, "{}", format!("    {line}").trim_end())?;
            }
        }
        writeln!(
            out,
            "\nMicroengines ({} MHz):",
            self.capacity.hertz / 1_000_000
        )?;
        for program in &self.programs {
            writeln!(out, "    {:2}  {}", program.me, program.source.display())?;
        }
        for folder in &self.include {
            writeln!(
                out,
                "    includes are also looked for in {}",
                folder.display()
            )?;
        }
        let (receive, transmit) = (self.boot.element_size, self.boot.transmit_element_size);
        let other = if transmit == receive {
            String::new()
        } else {
            format!(", {transmit} in TBUF")
        };
        writeln!(out, "\nPorts (element size {receive} bytes{other}):")?;
        for (n, port) in self.boot.ports.iter().enumerate() {
            writeln!(out, "    {n:2}  {}", show_rate(port.bits_per_second as f64))?;
        }
        writeln!(out, "\nMemory (byte addresses):")?;
        for space in &self.spaces {
            for region in space.regions() {
                writeln!(
                    out,
                    "    {:8} {:#010x} to {:#010x}  {}",
                    space.name,
                    region.start,
                    region.end - 1,
                    region.name
                )?;
            }
        }
        writeln!(out, "\nGeneral-purpose core:")?;
        for task in &self.tasks {
            writeln!(out, "    {task}")?;
        }
        if self.tasks.is_empty() {
            writeln!(out, "    nothing after the start")?;
        }
        for (i, program) in self.programs.iter().enumerate() {
            if i == 0 {
                writeln!(
                    out,
                    "\nNames that the sources see (microengine {}):",
                    program.me
                )?;
                for (name, value) in &program.defines {
                    writeln!(out, "    {name:24} {value}")?;
                }
                continue;
            }
            let others: Vec<_> = program
                .defines
                .iter()
                .filter(|d| !self.programs[0].defines.contains(d))
                .collect();
            writeln!(out, "  otherwise on microengine {}:", program.me)?;
            for (name, value) in others {
                writeln!(out, "    {name:24} {value}")?;
            }
        }
        Ok(())
    }
}
