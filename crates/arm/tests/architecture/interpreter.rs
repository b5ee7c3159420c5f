//! Cases in the interpreter.

use npsim_arm::{Bus, ByteOrder, Cpu, Mode, Size, Timing};

use crate::case::{After, CASE, Case, FLAGS, LANDINGS, STUB, WINDOW, WINDOW_WORDS, address};

/// The code of one case, and the window.
struct Memory {
    order: ByteOrder,
    /// Where the case is, and what it is.
    case: u32,
    words: [u32; CASE as usize / 4],
    window: [u32; WINDOW_WORDS],
}

impl Memory {
    fn longword(&mut self, address: u32) -> Result<&mut u32, String> {
        let code = address.wrapping_sub(self.case) as usize / 4;
        let data = address.wrapping_sub(WINDOW) as usize / 4;
        if data < WINDOW_WORDS {
            Ok(&mut self.window[data])
        } else if code < self.words.len() {
            Ok(&mut self.words[code])
        } else {
            Err(format!("an access at {address:#x}"))
        }
    }
}

impl Bus for Memory {
    type Refusal = String;

    fn code(&mut self, address: u32) -> Result<u32, String> {
        self.longword(address).copied()
    }

    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), String> {
        assert_eq!(address % size.bytes(), 0);
        let (shift, mask) = self.order.lane(address, size);
        Ok((*self.longword(address)? >> shift & mask, 0))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, String> {
        assert_eq!(address % size.bytes(), 0);
        let (shift, mask) = self.order.lane(address, size);
        let longword = self.longword(address)?;
        *longword = *longword & !(mask << shift) | (value & mask) << shift;
        Ok(0)
    }
}

/// The result of a case.
pub fn run(
    order: ByteOrder,
    number: usize,
    case: &Case,
    window: [u32; WINDOW_WORDS],
) -> Result<After, String> {
    let at = address(number);
    let mut memory = Memory {
        order,
        case: at - STUB,
        words: case.words(order, number),
        window,
    };
    let mut cpu = Cpu::new(at | u32::from(case.thumb()), order, Timing::XSCALE);
    cpu.set_cpsr(Mode::User.bits() | case.flags | cpu.cpsr() & 0x20);
    for (n, &value) in case.registers.iter().enumerate() {
        cpu.set_register(n, value);
    }
    for _ in 0..6 {
        if let Some(landing) = LANDINGS.iter().position(|&at| at == cpu.pc()) {
            if cpu.thumb() {
                return Err("still in Thumb state".into());
            }
            return Ok(After {
                landing: landing as u32,
                flags: cpu.cpsr() & FLAGS,
                registers: std::array::from_fn(|n| cpu.register(n)),
                window: memory.window,
            });
        }
        let step = cpu.step(&mut memory)?;
        if let Some(event) = step.event {
            return Err(format!("{event:?}"));
        }
    }
    Err(format!("at {:#x} after six instructions", cpu.pc()))
}
