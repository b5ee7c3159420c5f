//! The part of Linux needed by programs that read standard input, compute and write standard
//! output.

use npsim_arm::{Bus, Cpu, Event, Exception, Mode, RunEnd, Size, Timing};

use crate::image::Image;
use crate::memory::Memory;

const MEMORY: u32 = 0x0400_0000;
/// Pages that a process maps.
const MAPPED: u32 = 0x0200_0000;
const STACK: u32 = MEMORY - 0x1_0000;

const NO_SUCH_CALL: i32 = -38;
const NO_TERMINAL: i32 = -25;
const BAD_FILE: i32 = -9;
const NO_FILE: i32 = -2;

/// The output of a program, and its exit code.
#[derive(Debug, PartialEq)]
pub struct Output {
    pub written: Vec<u8>,
    pub code: u32,
}

struct Process<'a> {
    cpu: Cpu,
    memory: Memory,
    input: &'a [u8],
    written: Vec<u8>,
    break_: u32,
    mapped: u32,
}

/// Runs a program with these arguments, the first of which is its name.
pub fn run(file: &[u8], arguments: &[&str], input: &[u8]) -> Result<Output, String> {
    let image = Image::parse(file);
    let mut memory = Memory::new(MEMORY, image.order);
    image.load(&mut memory)?;
    let mut cpu = Cpu::new(image.entry, image.order, Timing::XSCALE);
    cpu.set_cpsr(Mode::User.bits() | cpu.cpsr() & 0x20);
    let mut process = Process {
        cpu,
        memory,
        input,
        written: Vec::new(),
        break_: image.end.next_multiple_of(0x1000),
        mapped: MAPPED,
    };
    process.set_up_stack(&image, arguments)?;
    process.run()
}

impl Process<'_> {
    /// Arguments, environment and auxiliary values.
    fn set_up_stack(&mut self, image: &Image, arguments: &[&str]) -> Result<(), String> {
        let mut text = STACK;
        let mut words = vec![arguments.len() as u32];
        for argument in arguments {
            self.memory.set_bytes(text, argument.as_bytes())?;
            words.push(text);
            text += argument.len() as u32 + 1;
        }
        // After the arguments, no environment.
        words.extend([0, 0]);
        // Program headers, their size and number, the page size, the entry, features of the processor (SWP, half,
        // Thumb, fast multiplication, EDSP), random bytes, the end.
        let (headers, count) = image.headers;
        words.extend([3, headers, 4, 32, 5, count, 6, 0x1000, 9, image.entry]);
        words.extend([16, 0x97, 25, STACK, 0, 0]);
        let stack = (STACK - 0x1000) & !7;
        for (i, word) in words.into_iter().enumerate() {
            self.memory.set_word(stack + 4 * i as u32, word)?;
        }
        self.cpu.set_register(13, stack);
        Ok(())
    }

    fn run(mut self) -> Result<Output, String> {
        loop {
            let (_, end) = self.cpu.run(&mut self.memory, 1 << 20);
            match end {
                RunEnd::CyclesSpent | RunEnd::Bus => {}
                RunEnd::Event(Event::Exception {
                    kind: Exception::SoftwareInterrupt,
                    ..
                }) => {
                    if let Some(code) = self.call()? {
                        return Ok(Output {
                            written: self.written,
                            code,
                        });
                    }
                }
                other => return Err(format!("{other:x?} at {:#x}", self.cpu.pc())),
            }
        }
    }

    /// Executes a system call and returns to user mode; gives the exit code if it was the last.
    fn call(&mut self) -> Result<Option<u32>, String> {
        let (back, status) = (self.cpu.register(14), self.cpu.spsr().unwrap());
        self.cpu.set_cpsr(status);
        self.cpu.set_pc(back);
        let [a, b, c, d] = std::array::from_fn(|n| self.cpu.register(n));
        let number = self.cpu.register(7);
        let result = match number {
            // exit, exit_group
            1 | 248 => return Ok(Some(a)),
            // read
            3 if a == 0 => {
                let count = self.input.len().min(c as usize);
                let (now, later) = self.input.split_at(count);
                self.memory.set_bytes(b, now)?;
                self.input = later;
                count as i32
            }
            // write
            4 if a == 1 || a == 2 => {
                if a == 1 {
                    let bytes = self.memory.bytes(b, c)?;
                    self.written.extend(bytes);
                }
                c as i32
            }
            3 | 4 => BAD_FILE,
            // open, stat64, lstat64, readlink, openat: there are no files
            5 | 85 | 195 | 196 | 322 => NO_FILE,
            // brk
            45 => {
                if a >= self.break_ && a < MAPPED {
                    self.break_ = a;
                }
                self.break_ as i32
            }
            // ioctl
            54 => NO_TERMINAL,
            // writev
            146 => self.write_vector(a, b, c)?,
            // mmap2 without a file
            192 => {
                let address = self.mapped;
                self.mapped += b.next_multiple_of(0x1000);
                if self.mapped > STACK - 0x20_0000 || d & 0x20 == 0 {
                    return Err(format!("a map of {b:#x} bytes, {d:#x}"));
                }
                address as i32
            }
            // clock_gettime, gettimeofday, times: the beginning of time
            78 | 263 | 403 => {
                let at = if number == 78 { a } else { b };
                for i in 0..if number == 403 { 4 } else { 2 } {
                    self.memory.set_word(at + 4 * i, 0)?;
                }
                0
            }
            // poll of one file: standard input can be read
            168 => {
                self.memory.write(a + 6, Size::Half, 1)?;
                1
            }
            // ugetrlimit: eight megabytes of stack
            191 => {
                self.memory.set_word(b, 8 << 20)?;
                self.memory.set_word(b + 4, u32::MAX)?;
                0
            }
            // getrandom
            384 => {
                self.memory.set_bytes(a, &vec![7; b as usize])?;
                b as i32
            }
            // getpid, getppid, set_tid_address, gettid
            20 | 64 | 224 | 256 => 100,
            // close, signals, munmap, mprotect, prctl, users and groups, fcntl64, umask, madvise
            6 | 60 | 67 | 91 | 125 | 172 | 174 | 175 | 186 | 199..=202 | 220 | 221 => 0,
            // The address of thread-local storage.
            0xf0005 => {
                self.memory.set_thread(a);
                0
            }
            _ => NO_SUCH_CALL,
        };
        self.cpu.set_register(0, result as u32);
        Ok(None)
    }

    fn write_vector(&mut self, file: u32, vector: u32, count: u32) -> Result<i32, String> {
        let mut sum = 0;
        for part in (0..count).map(|i| vector + 8 * i) {
            let (address, _) = self.memory.read(part, Size::Word)?;
            let (length, _) = self.memory.read(part + 4, Size::Word)?;
            if file == 1 {
                let bytes = self.memory.bytes(address, length)?;
                self.written.extend(bytes);
            }
            sum += length as i32;
        }
        Ok(sum)
    }
}
