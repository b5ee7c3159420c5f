//! The interrupt controller: at each level, whatever is pending and enabled is passed to the next.
//!
//! Threads of microengines raise bits of the raw status, 32 threads per word. Words with an enabled bit become
//! lines of the controller, alongside those of timers and UART. The enabled lines drive IRQ and FIQ.

use npsim_chip::gpp::InterruptLine;
use serde::{Deserialize, Serialize};

/// Words of thread bits: 32 threads each, cluster 1 in words 2 and 3.
const WORDS: usize = 4;

/// Threads that raised an interrupt, for lines A and B.
pub(crate) type ThreadStatus = [[u32; WORDS]; 2];

/// The line raised by software.
pub const SOFT: u32 = 1 << 0;
/// The line of the UART.
pub const UART: u32 = 1 << 2;
/// The line of the first of four timers.
pub const TIMER_1: u32 = 1 << 4;
/// The line of the first word of threads with interrupt A.
const THREADS_A: u32 = 1 << 16;
/// The line of the first word of threads with interrupt B.
const THREADS_B: u32 = 1 << 24;

/// The controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptController {
    soft: u32,
    irq_enable: u32,
    fiq_enable: u32,
    raw: ThreadStatus,
    enable: ThreadStatus,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Raw,
    IrqStatus,
    FiqStatus,
    IrqEnable,
    FiqEnable,
    IrqDisable,
    FiqDisable,
    Soft,
    ErrorStatus,
    ThreadRaw(usize, usize),
    ThreadStatus(usize, usize),
    ThreadEnable(usize, usize),
    ThreadDisable(usize, usize),
}

/// The register at an offset. The offsets of raw status, FIQ status, FIQ enable and soft interrupts are assumed.
fn register(offset: u32) -> Option<Register> {
    let threads = |first: u32| {
        let at = offset.wrapping_sub(first);
        let (line, word) = ((at / 0x20) as usize, (at % 0x20 / 4) as usize);
        (line < 2 && word < WORDS).then_some((line, word))
    };
    Some(match offset {
        0x00 => Register::Raw,
        0x04 => Register::Soft,
        0x08 => Register::IrqStatus,
        0x0c => Register::FiqStatus,
        0x10 => Register::IrqEnable,
        0x14 => Register::FiqDisable,
        0x18 => Register::IrqDisable,
        0x1c => Register::FiqEnable,
        0x24..=0x34 => Register::ErrorStatus,
        _ => {
            if let Some((line, word)) = threads(0x60) {
                Register::ThreadRaw(line, word)
            } else if let Some((line, word)) = threads(0xe0) {
                Register::ThreadStatus(line, word)
            } else if let Some((line, word)) = threads(0x160) {
                Register::ThreadEnable(line, word)
            } else {
                let (line, word) = threads(0x1e0)?;
                Register::ThreadDisable(line, word)
            }
        }
    })
}

impl InterruptController {
    /// Records an interrupt raised by a thread.
    pub fn raise(&mut self, line: InterruptLine, thread: u8) {
        let line = usize::from(line == InterruptLine::B);
        self.raw[line][usize::from(thread) / 32 % WORDS] |= 1 << (thread % 32);
    }

    /// The raw status of threads.
    pub(crate) const fn threads(&self) -> ThreadStatus {
        self.raw
    }

    /// All lines that are set; `devices` are those of timers and UART.
    #[must_use]
    pub fn lines(&self, devices: u32) -> u32 {
        let mut lines = devices | self.soft;
        for (first, (raw, enable)) in [THREADS_A, THREADS_B]
            .into_iter()
            .zip(self.raw.iter().zip(&self.enable))
        {
            for word in 0..WORDS {
                if raw[word] & enable[word] != 0 {
                    lines |= first << word;
                }
            }
        }
        lines
    }

    /// Whether IRQ and FIQ are raised.
    #[must_use]
    pub fn raised(&self, devices: u32) -> (bool, bool) {
        let lines = self.lines(devices);
        (lines & self.irq_enable != 0, lines & self.fiq_enable != 0)
    }

    /// The lines enabled for the processor.
    #[must_use]
    pub const fn enabled(&self) -> u32 {
        self.irq_enable | self.fiq_enable
    }

    /// Whether an interrupt of a thread could reach the processor.
    #[must_use]
    pub fn awaits_thread_interrupts(&self) -> bool {
        let firsts = [THREADS_A, THREADS_B].into_iter().zip(&self.enable);
        firsts.into_iter().any(|(first, enable)| {
            (0..WORDS).any(|word| enable[word] != 0 && self.enabled() & first << word != 0)
        })
    }

    /// Reads a register; `None` if there is none.
    #[must_use]
    pub fn read(&self, offset: u32, devices: u32) -> Option<u32> {
        let lines = self.lines(devices);
        Some(match register(offset)? {
            Register::Raw => lines,
            Register::IrqStatus => lines & self.irq_enable,
            Register::FiqStatus => lines & self.fiq_enable,
            Register::IrqEnable | Register::IrqDisable => self.irq_enable,
            Register::FiqEnable | Register::FiqDisable => self.fiq_enable,
            Register::Soft => self.soft,
            Register::ErrorStatus => 0,
            Register::ThreadRaw(line, word) => self.raw[line][word],
            Register::ThreadStatus(line, word) => self.raw[line][word] & self.enable[line][word],
            Register::ThreadEnable(line, word) | Register::ThreadDisable(line, word) => {
                self.enable[line][word]
            }
        })
    }

    /// Writes a register. Returns false if there is none.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        let Some(register) = register(offset) else {
            return false;
        };
        match register {
            Register::Raw
            | Register::IrqStatus
            | Register::FiqStatus
            | Register::ErrorStatus
            | Register::ThreadStatus(..) => {}
            Register::IrqEnable => self.irq_enable |= value,
            Register::IrqDisable => self.irq_enable &= !value,
            Register::FiqEnable => self.fiq_enable |= value,
            Register::FiqDisable => self.fiq_enable &= !value,
            Register::Soft => self.soft = value & SOFT,
            Register::ThreadRaw(line, word) => self.raw[line][word] &= !value,
            Register::ThreadEnable(line, word) => self.enable[line][word] |= value,
            Register::ThreadDisable(line, word) => self.enable[line][word] &= !value,
        }
        true
    }
}

/// The names of interrupt lines.
pub(crate) fn names(lines: u32) -> String {
    let of = |line: u32| match line {
        0 => "software".to_owned(),
        2 => "the UART".to_owned(),
        4..=7 => format!("timer {}", line - 4),
        16..=19 => "threads, A".to_owned(),
        24..=27 => "threads, B".to_owned(),
        _ => "a device".to_owned(),
    };
    let set = (0..32).filter(|line| lines >> line & 1 == 1);
    let names: Vec<_> = set
        .map(|line| format!("line {line}: {}", of(line)))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_passes_only_enabled_levels() {
        let mut controller = InterruptController::default();
        controller.raise(InterruptLine::B, 70);
        assert_eq!(
            controller.read(0x88, 0),
            Some(1 << 6),
            "raw status B, word 2"
        );
        assert_eq!(controller.raised(0), (false, false));
        assert!(controller.write(0x188, 1 << 6));
        assert_eq!(controller.lines(0), 1 << 26);
        assert_eq!(controller.raised(0), (false, false));
        assert!(!controller.awaits_thread_interrupts());
        assert!(controller.write(0x10, 1 << 26));
        assert_eq!(controller.raised(0), (true, false));
        assert!(controller.awaits_thread_interrupts());
        assert!(controller.write(0x1c, 1 << 26));
        assert_eq!(controller.raised(0), (true, true));
        assert!(controller.write(0x88, 1 << 6), "ones clear raw status");
        assert_eq!(controller.raised(0), (false, false));
    }

    #[test]
    fn device_interrupts_need_only_the_main_enable() {
        let mut controller = InterruptController::default();
        assert!(controller.write(0x10, TIMER_1));
        assert_eq!(controller.raised(TIMER_1), (true, false));
        assert_eq!(controller.read(0x08, TIMER_1 | UART), Some(TIMER_1));
        assert!(controller.write(0x18, TIMER_1));
        assert_eq!(controller.raised(TIMER_1), (false, false));
        assert!(!controller.write(0x400, 0));
    }
}
