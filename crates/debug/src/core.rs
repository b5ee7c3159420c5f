//! The general-purpose core as a thread of the debugger: what its program is at, and where a run has it stop.
//!
//! A program of the core is the task [`Processor`], found among the chip's tasks by its type; that is all the
//! debugger needs to know of tasks. The thread is [`Thread::CORE`](crate::Thread::CORE), `core`.
//!
//! **Where it stops.** The core makes the instructions of a job in one cycle of the chip. A [`TimePoint`] of the
//! core therefore has the number of an instruction beside the cycle, and a debugger that stands there shows a copy of the chip whose
//! job was cut before that instruction (see [`Probe`]). The rest of the chip is shown at the end of that cycle. The run
//! itself stands before the cycle and goes on from there, so that neither stops nor steps change a byte of it; for the same
//! reason nothing can be changed there by hand.
//!
//! **Steps** by instruction go from the one with a number to that with the next or the last, which may be many cycles away if the
//! program sleeps. **Breakpoints** are noted in the jobs of the stretch that is searched. Laps of a loop that sleeps are not
//! simulated, and breakpoints in them are met when it begins and when it wakes.
//!
//! [`TimePoint`]: crate::timeline::TimePoint

use std::sync::Arc;

use npsim_arm::{ByteOrder, Cpu, Mode, decode_arm, decode_thumb};
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_xscale::map::{self, Target};
use npsim_xscale::{LineRow, Pass, Place, Probe, Processor, Setup};

use crate::error::DebugError;
use crate::source::SourceFrame;

/// Names of registers by their number.
pub const REGISTERS: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
];

/// The number of the instruction that the core's program makes next.
pub(crate) fn next_instruction(chip: &Chip) -> Option<u64> {
    let processor = chip.gpp().task::<Processor>()?;
    Some(processor.cpu().instructions())
}

/// Has the core look for something from here on.
pub(crate) fn look_for(chip: &mut Chip, probe: Probe) {
    if let Some(processor) = chip.gpp_mut().task_mut::<Processor>() {
        processor.look_for(probe);
    }
}

/// What the core came by first.
pub(crate) fn first_pass(chip: &Chip) -> Option<Pass> {
    let processor = chip.gpp().task::<Processor>()?;
    processor.probe().passes.first().copied()
}

/// What the core came by before a cycle of what it was to look for, which it does no more.
pub(crate) fn passes(chip: &mut Chip, end: Cycle) -> Vec<Pass> {
    let Some(processor) = chip.gpp_mut().task_mut::<Processor>() else {
        return Vec::new();
    };
    let mut probe = processor.look_for(Probe::default());
    if let Some(view) = CoreView::of(chip) {
        probe.looked_at(end, view.cpu(), |address| view.word(address));
    }
    probe.passes
}

/// Whether a check finds mistakes of the core's program.
pub(crate) fn finds(check: Check) -> bool {
    check.name().starts_with("core-")
}

/// The core and its program as they stand.
#[derive(Clone, Copy, Debug)]
pub struct CoreView<'c> {
    chip: &'c Chip,
    processor: &'c Processor,
    setup: &'c Arc<Setup>,
}

/// An instruction as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisassembledInstruction {
    /// Its address.
    pub address: u32,
    /// What it does.
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

    /// What it does, in words.
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
    pub fn is_big(&self) -> bool {
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

    /// The place in the sources to which an address belongs.
    #[must_use]
    pub fn place(&self, address: u32) -> Place {
        self.setup.program.place(address)
    }

    /// The program, with all that the project says of it.
    #[must_use]
    pub fn setup(&self) -> Arc<Setup> {
        Arc::clone(self.setup)
    }

    /// The lines of its sources that have instructions, in the order of addresses.
    #[must_use]
    pub fn rows(&self) -> Vec<LineRow> {
        self.setup.program.rows()
    }

    /// The number of the instruction that is next.
    #[must_use]
    pub fn next_instruction(&self) -> u64 {
        self.cpu().instructions()
    }

    /// The line that the program is at.
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

    /// A file of the program's sources as it can be opened.
    #[must_use]
    pub fn path(&self, file: &str) -> String {
        let folder = std::path::Path::new(&self.setup.folder);
        folder.join(file).to_string_lossy().into_owned()
    }

    /// The longword in which an address lies, as a load reads it without the effects of one; `None` where there is no memory.
    #[must_use]
    pub fn word(&self, address: u32) -> Option<u32> {
        let units = self.chip.units();
        match map::target(address) {
            Target::Dram => units.dram.read_word(address & !3),
            Target::Memory(place, _) => place.look(&units.scratch, &units.sram),
            _ => None,
        }
    }

    /// The bytes from an address on, as far as there is memory.
    pub fn bytes(&self, address: u32) -> impl Iterator<Item = u8> + '_ {
        (address..=u32::MAX).map_while(move |address| {
            let at = address % 4;
            let lane = if self.is_big() { 3 - at } else { at };
            Some((self.word(address)? >> (8 * lane)) as u8)
        })
    }

    /// Instructions from an address on, as far as there is memory.
    #[must_use]
    pub fn disassembly(&self, first: u32, count: u32) -> Vec<DisassembledInstruction> {
        let thumb = self.cpu().thumb();
        let size = if thumb { 2 } else { 4 };
        let addresses = (0..count).map(|n| first.wrapping_add(n * size));
        let lines = addresses.map_while(|address| {
            let word = self.word(address)?;
            let high = (address & 2 == 0) == self.is_big();
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

    /// The value of a register, a function or a number, which is an address mostly.
    ///
    /// # Errors
    /// It is none of them.
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
            DebugError::new(format!("`{text}` is neither register nor function of the core's program, and no number"))
                .help("write `r0` to `r12`, `sp`, `lr`, `pc`, `cpsr`, a function, or an address such as 0x8000")
        })
    }

    /// Whether a text names a function of the program, or a line of one of its files, and no place of microcode.
    #[must_use]
    pub fn knows(&self, text: &str) -> bool {
        let program = &self.setup.program;
        let file = text.rsplit_once(':').map(|it| it.0);
        program.address_of(text).is_some()
            || file.is_some_and(|file| {
                let mut rows = program.rows().into_iter();
                rows.any(|it| npsim_image::same_file(&it.file, file))
            })
    }

    /// The addresses of a place: a function, `*ADDRESS`, or a line with or without its file, of which the next with
    /// instructions is taken.
    ///
    /// # Errors
    /// There is no such place.
    pub fn addresses(&self, text: &str) -> Result<(Vec<u32>, String), DebugError> {
        let program = &self.setup.program;
        if let Some(address) = text.strip_prefix('*') {
            let address = self.value(address.trim())?;
            if !program.is_code(address) {
                return Err(DebugError::new(format!(
                    "no code of {} stands at 0x{address:08x}",
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
            DebugError::new(format!("`{text}` is no place of {}", self.name())).help(
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
            // A line whose instructions are scattered stops where it begins in each function.
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
