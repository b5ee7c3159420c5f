//! How many instructions a second of the host's the interpreter makes: a loop of data operations, and one with loads,
//! stores and branches.
//!
//! `cargo run --release -p npsim-arm --example speed`
#![allow(clippy::disallowed_types)] // The host's clock is what is measured.

use std::time::Instant;

use npsim_arm::{Bus, ByteOrder, Cpu, RunEnd, Size, Timing};

struct Memory(Vec<u32>);

impl Bus for Memory {
    type Refusal = u32;

    fn code(&mut self, address: u32) -> Result<u32, u32> {
        self.0.get(address as usize / 4).copied().ok_or(address)
    }

    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), u32> {
        let longword = *self.0.get(address as usize / 4).ok_or(address)?;
        let bits = 8 * size.bytes();
        let shift = 32 - bits - 8 * (address & 3);
        Ok((longword >> shift & u32::MAX >> (32 - bits), 0))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, u32> {
        let longword = self.0.get_mut(address as usize / 4).ok_or(address)?;
        let bits = 8 * size.bytes();
        let shift = 32 - bits - 8 * (address & 3);
        let mask = u32::MAX >> (32 - bits) << shift;
        *longword = *longword & !mask | value << shift & mask;
        Ok(0)
    }
}

/// Sixteen data operations and a branch back.
const STRAIGHT: [u32; 18] = [
    0xe3a0_0000, // mov r0, #0
    0xe280_0001, // add r0, r0, #1
    0xe081_1000, // add r1, r1, r0
    0xe022_2001, // eor r2, r2, r1
    0xe1a0_3122, // lsr r3, r2, #2
    0xe083_4002, // add r4, r3, r2
    0xe204_50ff, // and r5, r4, #255
    0xe045_6001, // sub r6, r5, r1
    0xe186_7003, // orr r7, r6, r3
    0xe1a0_8207, // lsl r8, r7, #4
    0xe088_9006, // add r9, r8, r6
    0xe1c9_a005, // bic r10, r9, r5
    0xe02a_b009, // eor r11, r10, r9
    0xe08b_c000, // add r12, r11, r0
    0xe1b0_c12c, // lsrs r12, r12, #2
    0xe0ac_1001, // adc r1, r12, r1
    0xe04c_200b, // sub r2, r12, r11
    0xeaff_ffee, // b the second
];

/// A sum of bytes with a table, 256 bytes again and again.
const MEMORY: [u32; 12] = [
    0xe3a0_0801, // mov r0, #0x10000
    0xe3a0_1000, // mov r1, #0
    0xe7d0_2001, // ldrb r2, [r0, r1]
    0xe281_1001, // add r1, r1, #1
    0xe083_3002, // add r3, r3, r2
    0xe203_40fc, // and r4, r3, #252
    0xe790_5004, // ldr r5, [r0, r4]
    0xe085_5003, // add r5, r5, r3
    0xe780_5004, // str r5, [r0, r4]
    0xe311_00ff, // tst r1, #255
    0x1aff_fff6, // bne the third
    0xeaff_fff4, // b the second
];

/// Seconds that the process has had a CPU, or else that have passed: other work on the machine does not count.
fn seconds(begun: Instant) -> f64 {
    let passed = begun.elapsed().as_secs_f64();
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = { text.split_whitespace().next() }.and_then(|it| it.parse::<f64>().ok());
    nanoseconds.map_or(passed, |it| 1e-9 * it)
}

fn measure(name: &str, program: &[u32]) {
    let mut memory = Memory(vec![0x0102_0304; 0x8000]);
    memory.0[..program.len()].copy_from_slice(program);
    let mut best = f64::MAX;
    let mut figures = (0, 0);
    for _ in 0..5 {
        let mut cpu = Cpu::new(0, ByteOrder::Big, Timing::XSCALE);
        let begun = Instant::now();
        let before = seconds(begun);
        // In portions, as a simulator does.
        for _ in 0..20_000 {
            let (_, end) = cpu.run(&mut memory, 2_000);
            assert_eq!(end, RunEnd::CyclesSpent);
        }
        best = best.min((seconds(begun) - before) / cpu.instructions() as f64);
        figures = (cpu.instructions(), cpu.cycles());
    }
    let (instructions, cycles) = figures;
    println!(
        "{name}: {:.1} million instructions a CPU second, {instructions} in {cycles} cycles",
        1e-6 / best
    );
}

fn main() {
    measure("straight", &STRAIGHT);
    measure("memory", &MEMORY);
}
