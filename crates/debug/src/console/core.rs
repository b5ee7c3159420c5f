//! Commands when the core is selected.

use super::table::Verb;
use super::{Call, Reply, last_count};
use crate::core::{CoreView, REGISTERS};
use crate::error::DebugError;
use crate::thread::Thread;

/// Longwords per line.
const PER_LINE: usize = 4;
/// Maximum number of longwords or instructions shown.
const MAX_SHOWN: u32 = 4096;
/// Number of instructions shown by default.
const INSTRUCTIONS: u32 = 8;

impl Call<'_, '_> {
    /// Executes a command that refers to the selected thread, if the core is selected.
    pub(super) fn of_core(&self, verb: Verb) -> Option<Result<Reply, DebugError>> {
        if !self.debugger.thread().is_core() {
            return None;
        }
        let core = self.debugger.core()?;
        let lines = match verb {
            Verb::Disassemble => self.core_instructions(&core),
            Verb::Print => self
                .debugger
                .evaluate(self.rest, Thread::CORE)
                .map(|value| vec![format!("{} = {value} ({value:#x})", self.rest)]),
            Verb::Registers => Ok(registers(&core)),
            Verb::Memory => self.core_memory(&core),
            Verb::Out | Verb::Run | Verb::Any => Err(DebugError::new(
                "the program of the core is stepped through by lines and instructions",
            )
            .help("use `next`, `step` and `instruction`; `npsim debug --gdb` has `finish`")),
            Verb::Names
            | Verb::Signals
            | Verb::Cam
            | Verb::Csrs
            | Verb::Who
            | Verb::History
            | Verb::Set => Err(DebugError::new(
                "the core is selected, and this command applies only to contexts of microengines",
            )
            .help("`context 0.0` selects one of those")),
            _ => return None,
        };
        Some(lines.map(Reply::lines))
    }

    fn core_instructions(&self, core: &CoreView<'_>) -> Result<Vec<String>, DebugError> {
        let count = match self.rest {
            "" => INSTRUCTIONS,
            rest => { rest.parse().ok() }
                .filter(|it| (1..=MAX_SHOWN).contains(it))
                .ok_or_else(|| {
                    DebugError::new(format!("`{rest}` is not a number of instructions"))
                        .help(format!("give one from 1 to {MAX_SHOWN}"))
                })?,
        };
        let pc = core.cpu().pc();
        let size = if core.cpu().thumb() { 2 } else { 4 };
        let first = pc.saturating_sub(count / 2 * size);
        let lines = core.disassembly(first, count).into_iter().map(|it| {
            let mark = if it.address == pc { ">" } else { " " };
            format!("{mark} {:#010x}  {}", it.address, it.text)
        });
        Ok(lines.collect())
    }

    fn core_memory(&self, core: &CoreView<'_>) -> Result<Vec<String>, DebugError> {
        let (text, count) = match self.rest.split_once(char::is_whitespace) {
            Some(_) => last_count(self.rest, 1),
            None => (self.rest, 1),
        };
        if count > MAX_SHOWN {
            return Err(DebugError::new(format!("{count} longwords are too many"))
                .help(format!("at most {MAX_SHOWN} are shown")));
        }
        let first = core.value(text)? & !3;
        let addresses = (0..count).map(|n| first.wrapping_add(4 * n));
        let words: Vec<_> = addresses.map_while(|it| core.word(it)).collect();
        if words.is_empty() {
            return Err(DebugError::new(format!(
                "no memory that can be looked at lies at 0x{first:08x} of the core's map"
            )));
        }
        let lines = words.chunks(PER_LINE).zip((first..).step_by(4 * PER_LINE));
        Ok(lines
            .map(|(words, address)| {
                let words: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
                format!("{address:#010x}: {}", words.join(" "))
            })
            .collect())
    }
}

fn registers(core: &CoreView<'_>) -> Vec<String> {
    let cpu = core.cpu();
    let mut lines: Vec<_> = (0..16)
        .step_by(4)
        .map(|first| {
            let four = (first..first + 4)
                .map(|number| format!("{:<3} {:08x}", REGISTERS[number], cpu.register(number)));
            four.collect::<Vec<_>>().join("  ")
        })
        .collect();
    let flags = "NZCV".char_indices();
    let flags = flags.map(|(at, flag)| {
        if cpu.cpsr() << at >> 31 == 1 {
            flag
        } else {
            '-'
        }
    });
    let state = if cpu.thumb() { "Thumb" } else { "ARM" };
    let saved = cpu
        .spsr()
        .map(|saved| format!(", spsr {saved:08x}"))
        .unwrap_or_default();
    lines.push(format!(
        "cpsr {:08x}: {}, {} mode, {state} state{saved}",
        cpu.cpsr(),
        flags.collect::<String>(),
        core.mode()
    ));
    lines
}
