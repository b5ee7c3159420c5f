//! The laws of XCP and RCP in C, as the processor executes them, against the reference models: every word,
//! over intervals of all kinds.

use npsim_arm::{Bus, ByteOrder, Cpu, Size, Timing};
use npsim_protocols::rcp::{Counters, LinkRate, RcpSettings};
use npsim_protocols::xcp::{ControlTimer, QueueTimer, Sums, XcpSettings};
use npsim_testkit::microcode::shipped;
use npsim_xscale::Program;

/// Memory of the programs, from their load address on.
const BASE: u32 = 0x0300_0000;
const LONGWORDS: usize = 1 << 18;
/// The return address of a called function, and the address of its arguments in memory.
const RETURN: u32 = BASE + 0xf_0000;
const ARGUMENTS: u32 = BASE + 0xe_0000;

/// The place of a longword in memory.
fn index(address: u32) -> usize {
    ((address - BASE) / 4) as usize
}

/// A bus with only memory.
struct Flat(Vec<u32>);

impl Flat {
    fn put(&mut self, address: u32, words: &[u32]) {
        let at = index(address);
        self.0[at..at + words.len()].copy_from_slice(words);
    }
}

impl Bus for Flat {
    type Refusal = String;

    fn code(&mut self, address: u32) -> Result<u32, String> {
        Ok(self.0[index(address)])
    }

    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), String> {
        let word = self.0[index(address)];
        let (shift, mask) = ByteOrder::Big.lane(address, size);
        Ok((word >> shift & mask, 0))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, String> {
        let at = index(address);
        let (shift, mask) = ByteOrder::Big.lane(address, size);
        self.0[at] = self.0[at] & !(mask << shift) | (value & mask) << shift;
        Ok(0)
    }
}

/// A program whose functions are called.
struct Functions {
    program: Program,
    memory: Flat,
}

impl Functions {
    fn of(name: &str) -> Self {
        let bytes = std::fs::read(shipped().join("core").join(name)).unwrap();
        let program = Program::read(&bytes).unwrap();
        assert_eq!(program.order, ByteOrder::Big);
        let mut memory = Flat(vec![0; LONGWORDS]);
        for segment in &program.segments {
            memory.put(segment.address, &segment.words);
        }
        Self { program, memory }
    }

    /// Calls a function with its first four arguments in registers and the others on the stack. Returns its result and
    /// the core cycles that it takes without waiting for memory.
    fn call(&mut self, function: &str, registers: [u32; 4], stack: &[u32]) -> (u32, u64) {
        let entry = self.program.address_of(function).expect("a function");
        let mut cpu = Cpu::new(entry, ByteOrder::Big, Timing::XSCALE);
        let sp = BASE + 0xd_0000;
        self.memory.put(sp, stack);
        for (number, value) in registers.into_iter().enumerate() {
            cpu.set_register(number, value);
        }
        cpu.set_register(13, sp);
        cpu.set_register(14, RETURN);
        let mut cycles = 0;
        while cpu.pc() != RETURN {
            let step = cpu.step(&mut self.memory).unwrap();
            assert_eq!(step.event, None);
            cycles += u64::from(step.cycles);
        }
        (cpu.register(0), cycles)
    }

    fn words(&self, address: u32, count: usize) -> &[u32] {
        let at = index(address);
        &self.memory.0[at..at + count]
    }
}

/// Numbers of all magnitudes: xorshift of 64 bits.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number of at most the given number of bits.
    fn bits(&mut self, most: u32) -> u64 {
        let bits = self.next() % (u64::from(most) + 1);
        if bits == 0 {
            0
        } else {
            self.next() >> (64 - bits)
        }
    }

    fn word(&mut self) -> u32 {
        self.bits(32) as u32
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.bits(35).clamp(least, most)
    }
}

/// A 64-bit number as a big-endian processor stores it in memory.
fn longwords_of(value: u64) -> [u32; 2] {
    [(value >> 32) as u32, value as u32]
}

#[test]
fn xcp_control_law_in_c_matches_the_model() {
    let mut c = Functions::of("xcp.elf");
    let mut random = Random(0x5eed);
    // A control, what has arrived, and pools.
    let (control, arrived, pools) = (ARGUMENTS, ARGUMENTS + 0x100, ARGUMENTS + 0x200);
    for round in 0..2_000 {
        let fraction = |it: &mut Random| it.between(0, 10_000_000) as u32;
        let min_interval = random.between(1, 1 << 31) as u32;
        let settings = XcpSettings {
            capacity: random.between(1, 1 << 34),
            alpha: fraction(&mut random),
            beta: fraction(&mut random),
            gamma: fraction(&mut random),
            initial_interval: random.between(1, u32::MAX.into()) as u32,
            min_interval,
            max_interval: random.word().max(min_interval),
            allowed_queue: random.word(),
        };
        let mut model = ControlTimer::new(settings).unwrap();
        let mut queue = QueueTimer::default();
        let [high, low] = longwords_of(settings.capacity);
        let first = settings.initial_interval;
        c.memory.put(
            control,
            &[
                high,
                low,
                settings.alpha,
                settings.beta,
                settings.gamma,
                first,
                settings.min_interval,
                settings.max_interval,
                settings.allowed_queue,
                0,
                first,
                first,
                0,
                0,
            ],
        );
        for interval in 0..4 {
            let bytes = random.word();
            let next = queue.fire(bytes, model.avg_rtt(), &settings);
            let returned = c.call("xcp_queue", [control, bytes, 0, 0], &[]).0;
            assert_eq!(returned, next, "{round} {interval}");
            let sums = Sums {
                input_traffic: random.word(),
                sum_x: random.bits(64),
                sum_xrtt: random.bits(64),
            };
            let ([x0, x1], [r0, r1]) = (longwords_of(sums.sum_x), longwords_of(sums.sum_xrtt));
            let words = [sums.input_traffic, 0, x0, x1, r0, r1];
            c.memory.put(arrived, &words);
            let expected = model.fire(&sums, queue.queue()).pools;
            c.call("xcp_fire", [control, arrived, pools, 0], &[]);
            let (cp, cn) = (expected.cp, expected.cn);
            assert_eq!(
                c.words(pools, 6),
                [
                    expected.residue_pos,
                    expected.residue_neg,
                    cp.mantissa,
                    cp.shift.into(),
                    cn.mantissa,
                    cn.shift.into()
                ],
                "{round} {interval}: {settings:?} {sums:?}"
            );
            let times = [model.avg_rtt(), model.length()];
            assert_eq!(c.words(control + 40, 2), times);
        }
    }
}

#[test]
fn rcp_control_law_in_c_matches_the_model() {
    let mut c = Functions::of("rcp.elf");
    let mut random = Random(0x5eed);
    let (link, arrived) = (ARGUMENTS, ARGUMENTS + 0x100);
    for round in 0..2_000 {
        let capacity = random.between(1, 1 << 34);
        let gain = |it: &mut Random| it.between(0, 10_000_000) as u32;
        let settings = RcpSettings {
            capacity,
            target: random.between(1, capacity),
            alpha: gain(&mut random),
            beta: gain(&mut random),
            period: random.between(1, 4_000_000_000),
            initial_rate: random.word().max(1),
            initial_rtt: random.between(1, 4_000_000_000),
        };
        let mut model = LinkRate::new(settings).unwrap();
        let ([c0, c1], [t0, t1]) = (longwords_of(capacity), longwords_of(settings.target));
        let rtt = settings.initial_rtt as u32;
        c.memory.put(
            link,
            &[
                c0,
                c1,
                t0,
                t1,
                settings.alpha,
                settings.beta,
                settings.period as u32,
                settings.initial_rate,
                rtt,
                0,
                settings.initial_rate,
                rtt,
            ],
        );
        for interval in 0..4 {
            let length = random.bits(40).max(1);
            let counters = Counters {
                bytes: random.word(),
                rtt_bytes: random.word(),
                rtt_sum: random.bits(64),
            };
            let queue = random.word();
            let [s0, s1] = longwords_of(counters.rtt_sum);
            let words = [counters.bytes, counters.rtt_bytes, s0, s1];
            c.memory.put(arrived, &words);
            model.fire(length, &counters, queue);
            let [l0, l1] = longwords_of(length);
            c.call("rcp_fire", [link, 0, l0, l1], &[arrived, queue]);
            assert_eq!(
                c.words(link + 40, 2),
                [model.rate(), model.rtt() as u32],
                "{round} {interval}: {settings:?} {counters:?} {length} {queue}"
            );
            let next = c.call("rcp_length", [link, 0, 0, 0], &[]).0;
            assert_eq!(u64::from(next), model.length());
        }
    }
}
