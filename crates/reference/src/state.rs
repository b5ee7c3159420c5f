//! The complete state of a microengine.

use npsim_chip::Cycle;
use npsim_chip::core::MeStats;
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_isa::{CONTEXTS, ContextSet, context_index};
use serde::{Deserialize, Serialize};
use serde_big_array::BigArray;

use crate::context::Thread;

/// A range of transfer registers that a unit owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub file: FileName,
    pub first: u8,
    pub words: u8,
}

impl Claim {
    pub fn covers(self, file: FileName, register: usize) -> bool {
        let from_first = (register + 128 - usize::from(self.first)) % 128;
        self.file == file && from_first < usize::from(self.words)
    }
}

/// What the microengine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// No context is ready; a signal schedules its next turn.
    Idle,
    /// At the next turn the arbiter chooses a context, which runs this many cycles later.
    Pick(Cycle),
    /// The instruction at `pc` executes at `cycle`.
    Run,
    /// The instruction at `pc` waits at `cycle` for room in the command FIFO.
    Held,
    /// Stopped by a breakpoint.
    Halted,
}

/// A register file: 128 registers, and which of them have been written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisterFile {
    #[serde(with = "BigArray")]
    pub values: [u32; 128],
    /// Bit n: register n has been written.
    pub written: u128,
}

impl RegisterFile {
    fn new() -> Self {
        Self {
            values: [0; 128],
            written: 0,
        }
    }

    pub fn set(&mut self, register: usize, value: u32) {
        self.values[register % 128] = value;
        self.written |= 1 << (register % 128);
    }

    pub fn is_written(&self, register: usize) -> bool {
        self.written >> (register % 128) & 1 == 1
    }
}

/// The register files by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileName {
    A,
    B,
    SIn,
    DIn,
    SOut,
    DOut,
    Neighbour,
}

impl FileName {
    /// Returns the prefix of the file's registers in assembly.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::SIn | Self::SOut => "$",
            Self::DIn | Self::DOut => "$$",
            Self::Neighbour => "n$",
        }
    }
}

/// A register whose writes take effect several instructions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delayed {
    /// `LM_ADDR_0` or `LM_ADDR_1`, in longwords.
    Pointer(u8),
    /// `T_INDEX`, a register number.
    TransferIndex,
    /// `BYTE_INDEX`
    ByteIndex,
}

/// A write in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LateWrite {
    pub register: Delayed,
    pub value: u32,
    pub issued: Cycle,
    pub due: Cycle,
}

/// The action after the last defer slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AfterDefer {
    Jump(u16),
    /// The context yields, and resumes at this address or after the slots.
    Yield(Option<u16>),
}

/// Defer slots in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferral {
    pub left: u8,
    /// Address of the instruction that they belong to.
    pub of: u16,
    pub then: AfterDefer,
    /// Issue slots lost after them.
    pub penalty: Cycle,
}

/// All state that a snapshot includes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of the hardware"
)]
pub struct MicroengineState {
    pub phase: Phase,
    /// The cycle of the next instruction.
    pub cycle: Cycle,
    /// The cycle at which the running context last got the pipeline or accessed shared state.
    pub last_interaction: Cycle,
    pub pc: u16,
    /// The context that has the pipeline, or had it last.
    pub running: u8,
    /// The context that last yielded; the arbiter starts after it.
    pub last: u8,
    pub contexts: [Thread; CONTEXTS as usize],
    pub deferral: Option<Deferral>,
    /// Whether the instruction of the previous cycle set the condition codes.
    pub codes_are_new: bool,

    pub a: RegisterFile,
    pub b: RegisterFile,
    pub s_in: RegisterFile,
    pub d_in: RegisterFile,
    pub s_out: RegisterFile,
    pub d_out: RegisterFile,
    pub neighbour: RegisterFile,
    pub local_memory: Vec<u32>,
    /// `LM_ADDR_0` and `LM_ADDR_1` of the running context, in longwords.
    pub pointers: [u32; 2],
    /// Both pointers of each context that is not running.
    pub saved_pointers: [[u32; 2]; CONTEXTS as usize],
    /// Whether each pointer is shared by all contexts.
    pub global_pointers: [bool; 2],
    /// The cycle at which a write of this turn gave each pointer its value.
    pub pointer_since: [Cycle; 2],
    pub transfer_index: u32,
    pub byte_index: u32,
    pub late_writes: Vec<LateWrite>,

    /// N, Z, V, C
    pub codes: [bool; 4],
    /// Whether `CC_ENABLE` lets the codes change.
    pub codes_on: bool,
    /// A operand of the previous instruction: the count of indirect shifts.
    pub previous_a: u32,
    /// Result of the previous instruction: the fill of `asr`, the override word of `indirect_ref`.
    pub previous_result: u32,
    pub align_be: u32,
    pub align_le: u32,
    pub factors: (u32, u32),
    pub tags: [u32; 16],
    pub tag_states: [u8; 16],
    /// Time of last use of each CAM entry, by `cam_clock`; the smallest is replaced.
    pub used: [i64; 16],
    pub cam_clock: i64,
    pub crc: u32,

    /// The value read by `local_csr_rd`, for the `immed` after it.
    pub csr_value: Option<u32>,
    pub csr_pointer: u8,
    /// Local CSRs that merely hold their value, by longword address.
    #[serde(with = "BigArray")]
    pub held_csrs: [u32; 128],
    /// Bits of `CTX_ENABLES` that merely hold their value.
    pub other_enables: u32,
    pub enabled: ContextSet,
    pub four_contexts: bool,
    /// Whether the next-neighbour ring is this microengine's own.
    pub neighbour_is_self: bool,
    pub empty_threshold: u8,
    pub random: u32,
    /// The cycle up to which a free-running `random` has been stepped.
    pub random_at: Cycle,
    pub random_runs: bool,
    pub timestamp: u64,
    pub timestamp_at: Cycle,
    pub profile_count: u32,

    /// Transfer registers owned by units, the oldest claim first.
    pub claims: Vec<Claim>,
    /// Transfer registers that other microengines access, according to the chip's programs.
    #[serde(skip)]
    pub exposed: RemoteAccess,
    pub stalls: Vec<Stall>,
    /// The next scheduled wake-up for the end of a stall.
    pub stall_due: Cycle,

    pub started: bool,
    /// Start and end of the refill after the last idle time.
    pub refilled: (Cycle, Cycle),
    /// The slots lost last: the first, and the cycle after the last.
    pub lost: (Cycle, Cycle),
    pub stats: MeStats,
}

impl MicroengineState {
    pub fn new(local_memory_words: usize) -> Self {
        Self {
            phase: Phase::Idle,
            cycle: 0,
            last_interaction: 0,
            pc: 0,
            running: 0,
            last: CONTEXTS - 1,
            contexts: std::array::from_fn(|_| Thread::new()),
            deferral: None,
            codes_are_new: false,
            a: RegisterFile::new(),
            b: RegisterFile::new(),
            s_in: RegisterFile::new(),
            d_in: RegisterFile::new(),
            s_out: RegisterFile::new(),
            d_out: RegisterFile::new(),
            neighbour: RegisterFile {
                values: [0; 128],
                written: u128::MAX,
            },
            local_memory: vec![0; local_memory_words],
            pointers: [0; 2],
            saved_pointers: [[0; 2]; CONTEXTS as usize],
            global_pointers: [false; 2],
            pointer_since: [0; 2],
            transfer_index: 0,
            byte_index: 0,
            late_writes: Vec::new(),
            codes: [false, true, false, false],
            codes_on: true,
            previous_a: 0,
            previous_result: 0,
            align_be: 0,
            align_le: 0,
            factors: (0, 0),
            tags: [0; 16],
            tag_states: [0; 16],
            used: [0; 16],
            cam_clock: 0,
            crc: 0,
            csr_value: None,
            csr_pointer: 0,
            held_csrs: [0; 128],
            other_enables: 0,
            enabled: ContextSet::EMPTY,
            four_contexts: false,
            neighbour_is_self: false,
            empty_threshold: 0,
            random: 1,
            random_at: 0,
            random_runs: false,
            timestamp: 0,
            timestamp_at: 0,
            profile_count: 0,
            claims: Vec::new(),
            exposed: RemoteAccess::default(),
            stalls: Vec::new(),
            stall_due: Cycle::MAX,
            started: false,
            refilled: (0, 0),
            lost: (0, 0),
            stats: MeStats::default(),
        }
    }

    pub fn file(&self, name: FileName) -> &RegisterFile {
        match name {
            FileName::A => &self.a,
            FileName::B => &self.b,
            FileName::SIn => &self.s_in,
            FileName::DIn => &self.d_in,
            FileName::SOut => &self.s_out,
            FileName::DOut => &self.d_out,
            FileName::Neighbour => &self.neighbour,
        }
    }

    pub fn file_mut(&mut self, name: FileName) -> &mut RegisterFile {
        match name {
            FileName::A => &mut self.a,
            FileName::B => &mut self.b,
            FileName::SIn => &mut self.s_in,
            FileName::DIn => &mut self.d_in,
            FileName::SOut => &mut self.s_out,
            FileName::DOut => &mut self.d_out,
            FileName::Neighbour => &mut self.neighbour,
        }
    }

    /// Returns the running context.
    pub fn context(&mut self) -> &mut Thread {
        &mut self.contexts[context_index(self.running)]
    }

    /// Returns how many context-relative registers a file has.
    pub fn span(&self) -> usize {
        if self.four_contexts { 32 } else { 16 }
    }

    /// Returns the absolute number of a context-relative register.
    pub fn absolute(&self, context: u8, register: u8) -> usize {
        (context_index(context) * (128 / usize::from(CONTEXTS))
            + usize::from(register) % self.span())
            % 128
    }
}
