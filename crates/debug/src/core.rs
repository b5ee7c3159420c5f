//! The general-purpose core as a thread of the debugger: where its program is, and where a run
//! stops in it.
//!
//! The core's program is run by the task [`Processor`], found among the chip's tasks by its type;
//! the debugger needs to know nothing else about tasks. The thread is
//! [`Thread::CORE`](crate::Thread::CORE), `core`.
//!
//! **Where it stops.** The core executes the instructions of a job in one cycle of the chip. A
//! [`TimePoint`] of the core therefore has the number of an instruction besides the cycle, and a
//! debugger at that point shows a copy of the chip whose job was cut before that instruction (see
//! [`Probe`]). The rest of the chip is shown at the end of that cycle. The run itself stays before
//! the cycle and continues from there, so that neither stops nor steps change a byte of it; for the
//! same reason nothing can be changed manually there.
//!
//! **Steps** by instruction go to the instruction with the next or the previous number, which may
//! be many cycles away if the program sleeps. **Breakpoints** are recorded in the jobs of the
//! stretch that is being searched. Iterations of an idle loop are not simulated; breakpoints in
//! such a loop are hit when it begins and when it wakes.
//!
//! [`TimePoint`]: crate::timeline::TimePoint

use std::sync::Arc;

use npsim_arm::{ByteOrder, Cpu, Mode, decode_arm, decode_thumb};
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_xscale::map::{self, Target};
use npsim_xscale::{LineRow, Place, Probe, ProbeHit, Processor, Setup};

use crate::error::DebugError;
use crate::source::SourceFrame;

/// Register names by number.
pub const REGISTERS: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
];

/// The number of the next instruction of the core's program.
pub(crate) fn next_instruction(chip: &Chip) -> Option<u64> {
    let processor = chip.gpp().task::<Processor>()?;
    Some(processor.cpu().instructions())
}

/// Makes the core look for something from here on.
pub(crate) fn set_probe(chip: &mut Chip, probe: Probe) {
    if let Some(processor) = chip.gpp_mut().task_mut::<Processor>() {
        processor.set_probe(probe);
    }
}

/// The first thing that the core found.
pub(crate) fn first_probe_hit(chip: &Chip) -> Option<ProbeHit> {
    let processor = chip.gpp().task::<Processor>()?;
    processor.probe().probe_hits.first().copied()
}

/// What the core found before a cycle; it stops looking.
pub(crate) fn probe_hits(chip: &mut Chip, end: Cycle) -> Vec<ProbeHit> {
    let Some(processor) = chip.gpp_mut().task_mut::<Processor>() else {
        return Vec::new();
    };
    let mut probe = processor.set_probe(Probe::default());
    if let Some(view) = CoreView::of(chip) {
        probe.note_poll(end, view.cpu(), |address| view.word(address));
    }
    probe.probe_hits
}

/// Whether a check finds errors of the core's program.
pub(crate) fn finds(check: Check) -> bool {
    check.name().starts_with("core-")
}

/// The core and its program in their present state.
#[derive(Clone, Copy, Debug)]
pub struct CoreView<'c> {
    chip: &'c Chip,
    processor: &'c Processor,
    setup: &'c Arc<Setup>,
}

/// A disassembled instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisassembledInstruction {
    /// Its address.
    pub address: u32,
    /// The instruction's text.
    pub text: String,
}

impl<'c> CoreView<'c> {
    /// The core of a chip, if it runs a program.
    #[must_use]
    pub fn of(chip: &'c Chip) -> Option<Self> {
        let processor = chip.gpp().task::<Processor>()?;
        Some(Self {
            chip,
            processor,
            setup: processor.setup()?,
        })
    }

    /// The name of the program's file.
    #[must_use]
    pub fn name(&self) -> &'c str {
        &self.setup.name
    }

    /// A description of its state.
    #[must_use]
    pub fn doing(&self) -> &'static str {
        self.processor.doing()
    }

    /// Registers, status and mode.
    #[must_use]
    pub fn cpu(&self) -> &'c Cpu {
        self.processor.cpu()
    }

    /// Whether the byte at a multiple of 4 is bits 31-24 of its longword.
    #[must_use]
    pub fn is_big_endian(&self) -> bool {
        self.setup.program.order == ByteOrder::Big
    }

    /// The name of the mode.
    #[must_use]
    pub fn mode(&self) -> &'static str {
        match self.cpu().mode() {
            Mode::User => "user",
            Mode::Fiq => "FIQ",
            Mode::Irq => "IRQ",
            Mode::Supervisor => "supervisor",
            Mode::Abort => "abort",
            Mode::Undefined => "undefined",
            Mode::System => "system",
        }
    }

    /// The source location of an address.
    #[must_use]
    pub fn place(&self, address: u32) -> Place {
        self.setup.program.place(address)
    }

    /// The program, with its settings from the project.
    #[must_use]
    pub fn setup(&self) -> Arc<Setup> {
        Arc::clone(self.setup)
    }

    /// The source lines that have instructions, in order of address.
    #[must_use]
    pub fn rows(&self) -> Vec<LineRow> {
        self.setup.program.rows()
    }

    /// The number of the next instruction.
    #[must_use]
    pub fn next_instruction(&self) -> u64 {
        self.cpu().instructions()
    }

    /// The program's current line.
    #[must_use]
    pub fn frame(&self) -> Option<SourceFrame> {
        let place = self.place(self.cpu().pc());
        let (file, line) = place.line?;
        let function = place.function.map(|it| it.0);
        Some(SourceFrame {
            name: function.unwrap_or_else(|| self.name().to_owned()),
            arguments: Vec::new(),
            file: self.path(&file),
            line,
            column: 1,
        })
    }

    /// The path under which a source file of the program can be opened.
    #[must_use]
    pub fn path(&self, file: &str) -> String {
        let folder = std::path::Path::new(&self.setup.folder);
        folder.join(file).to_string_lossy().into_owned()
    }

    /// The longword that contains an address, read without side effects; `None` if there is no
    /// memory.
    #[must_use]
    pub fn word(&self, address: u32) -> Option<u32> {
        let units = self.chip.units();
        match map::target(address) {
            Target::Dram => units.dram.read_word(address & !3),
            Target::Memory(place, _) => place.peek_word(&units.scratch, &units.sram),
            _ => None,
        }
    }

    /// The bytes from an address to the end of the memory.
    pub fn bytes(&self, address: u32) -> impl Iterator<Item = u8> + '_ {
        (address..=u32::MAX).map_while(move |address| {
            let at = address % 4;
            let lane = if self.is_big_endian() { 3 - at } else { at };
            Some((self.word(address)? >> (8 * lane)) as u8)
        })
    }

    /// Disassembles instructions from an address on, up to the end of the memory.
    #[must_use]
    pub fn disassembly(&self, first: u32, count: u32) -> Vec<DisassembledInstruction> {
        let thumb = self.cpu().thumb();
        let size = if thumb { 2 } else { 4 };
        let addresses = (0..count).map(|n| first.wrapping_add(n * size));
        let lines = addresses.map_while(|address| {
            let word = self.word(address)?;
            let high = (address & 2 == 0) == self.is_big_endian();
            let instruction = match (thumb, high) {
                (false, _) => decode_arm(word),
                (true, true) => decode_thumb((word >> 16) as u16),
                (true, false) => decode_thumb(word as u16),
            };
            let text = instruction.to_string();
            Some(DisassembledInstruction { address, text })
        });
        lines.collect()
    }

    /// The value of a register, a function or a number, usually an address.
    ///
    /// # Errors
    /// Returns an error if the text is none of these.
    pub fn value(&self, text: &str) -> Result<u32, DebugError> {
        let cpu = self.cpu();
        if let Some(number) = REGISTERS.iter().position(|it| *it == text) {
            return Ok(cpu.register(number));
        }
        match text {
            "cpsr" => return Ok(cpu.cpsr()),
            "spsr" if cpu.spsr().is_some() => return Ok(cpu.spsr().unwrap_or(0)),
            _ => {}
        }
        if let Some(address) = self.setup.program.address_of(text) {
            return Ok(address);
        }
        let number = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        number.map_err(|_| {
            DebugError::new(format!("`{text}` is not a register, a function of the core's program or a number"))
                .help("write `r0` to `r12`, `sp`, `lr`, `pc`, `cpsr`, a function, or an address such as 0x8000")
        })
    }

    /// Whether a text names a function of the program or a line of one of its files, rather than a
    /// place in microcode.
    #[must_use]
    pub fn is_core_location(&self, text: &str) -> bool {
        let program = &self.setup.program;
        let file = text.rsplit_once(':').map(|it| it.0);
        program.address_of(text).is_some()
            || file.is_some_and(|file| {
                let mut rows = program.rows().into_iter();
                rows.any(|it| npsim_image::same_file(&it.file, file))
            })
    }

    /// The addresses of a place: a function, `*ADDRESS`, or a line with or without its file; if the
    /// line has no instructions, the next one that does is used.
    ///
    /// # Errors
    /// Returns an error if there is no such place.
    pub fn addresses(&self, text: &str) -> Result<(Vec<u32>, String), DebugError> {
        let program = &self.setup.program;
        if let Some(address) = text.strip_prefix('*') {
            let address = self.value(address.trim())?;
            if !program.is_code(address) {
                return Err(DebugError::new(format!(
                    "no code of {} is at 0x{address:08x}",
                    self.name()
                )));
            }
            return Ok((vec![address], format!("0x{address:08x}")));
        }
        if let Some(address) = program.address_of(text) {
            return Ok((vec![address], text.to_owned()));
        }
        let here = self.place(self.cpu().pc()).line;
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (file.to_owned(), line),
            None => (here.map_or_else(String::new, |it| it.0), text),
        };
        let wrong = || {
            DebugError::new(format!("`{text}` is not a place in {}", self.name())).help(
                "name a function, a line such as `main.c:12`, or an address such as `*0x8000`",
            )
        };
        let line: u32 = line.trim().parse().map_err(|_| wrong())?;
        let mut rows = program.rows();
        rows.retain(|it| npsim_image::same_file(&it.file, &file) && it.line >= line);
        let line = rows.iter().map(|it| it.line).min().ok_or_else(wrong)?;
        rows.retain(|it| it.line == line);
        let title = format!("{}:{line}", rows[0].file);
        let mut addresses: Vec<u32> = Vec::new();
        let function = |address| program.place(address).function.map(|it| it.0);
        for address in rows.into_iter().map(|it| it.address) {
            // A line with scattered instructions stops at its beginning in each function.
            if addresses
                .iter()
                .all(|it| function(*it) != function(address))
            {
                addresses.push(address);
            }
        }
        Ok((addresses, title))
    }
}
