//! The state that the past leaves in a microengine.

use npsim_chip::Cycle;
use npsim_chip::core::MeStats;
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_isa::{CONTEXTS, ContextSet, context_index};
use serde::{Deserialize, Serialize};
use serde_big_array::BigArray;

use crate::context::Thread;

/// Transfer registers that a unit owns.
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

/// What the microengine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// No context is ready; a signal gives it its next turn.
    Idle,
    /// At its next turn the arbiter chooses, and a context runs this much later.
    Pick(Cycle),
    /// The instruction at `pc` executes at `cycle`.
    Run,
    /// The instruction at `pc` waits at `cycle` for room in the command FIFO.
    Held,
    /// A breakpoint stopped it.
    Halted,
}

/// A register file: 128 registers and which of them were ever written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RegisterFile {
    #[serde(with = "BigArray")]
    pub values: [u32; 128],
    /// Bit n: register n.
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
    /// How a register of the file is written in assembly, without its number.
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

/// A register that a write reaches only some instructions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delayed {
    /// `LM_ADDR_0` or `LM_ADDR_1`, in longwords.
    Pointer(u8),
    /// `T_INDEX`, a register number.
    TransferIndex,
    /// `BYTE_INDEX`
    ByteIndex,
}

/// A write on its way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LateWrite {
    pub register: Delayed,
    pub value: u32,
    pub issued: Cycle,
    pub due: Cycle,
}

/// What follows the last defer slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AfterDefer {
    Jump(u16),
    /// The context yields and resumes here, or after the slots.
    Yield(Option<u16>),
}

/// Defer slots that are being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferral {
    pub left: u8,
    /// The instruction that they belong to.
    pub of: u16,
    pub then: AfterDefer,
    /// Issue slots that are lost after them.
    pub penalty: Cycle,
}

/// Everything that a saved state holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of the hardware"
)]
pub struct MicroengineState {
    pub phase: Phase,
    /// The cycle of the next instruction.
    pub cycle: Cycle,
    /// When the running context last got the pipeline or looked at what others change.
    pub looked: Cycle,
    pub pc: u16,
    /// The context that has the pipeline, or had it last.
    pub running: u8,
    /// The context that last gave it up; the arbiter begins after it.
    pub last: u8,
    pub contexts: [Thread; CONTEXTS as usize],
    pub deferral: Option<Deferral>,
    /// The instruction of the cycle before set the condition codes.
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
    /// Both pointers of each context that does not run.
    pub saved_pointers: [[u32; 2]; CONTEXTS as usize],
    /// Pointers that all contexts share.
    pub global_pointers: [bool; 2],
    /// When each pointer got its value from a write of this turn.
    pub pointer_since: [Cycle; 2],
    pub transfer_index: u32,
    pub byte_index: u32,
    pub late_writes: Vec<LateWrite>,

    /// N, Z, V, C
    pub codes: [bool; 4],
    /// `CC_ENABLE` lets them change.
    pub codes_on: bool,
    /// A operand of the instruction before: the count of indirect shifts.
    pub previous_a: u32,
    /// The result: the fill of `asr`, the override word of `indirect_ref`.
    pub previous_result: u32,
    pub align_be: u32,
    pub align_le: u32,
    pub factors: (u32, u32),
    pub tags: [u32; 16],
    pub tag_states: [u8; 16],
    /// When each CAM entry was last used, by `cam_clock`; the least is replaced.
    pub used: [i64; 16],
    pub cam_clock: i64,
    pub crc: u32,

    /// What `local_csr_rd` read, for the `immed` behind it.
    pub csr_value: Option<u32>,
    pub csr_pointer: u8,
    /// Local CSRs that only hold their value, by longword.
    #[serde(with = "BigArray")]
    pub held_csrs: [u32; 128],
    /// Bits of `CTX_ENABLES` that only hold their value.
    pub other_enables: u32,
    pub enabled: ContextSet,
    pub four_contexts: bool,
    /// The next-neighbour ring is the own one.
    pub neighbour_is_self: bool,
    pub empty_threshold: u8,
    pub random: u32,
    /// Up to when a free-running `random` has been stepped.
    pub random_at: Cycle,
    pub random_runs: bool,
    pub timestamp: u64,
    pub timestamp_at: Cycle,
    pub profile_count: u32,

    /// Transfer registers that units own, the oldest claim first.
    pub claims: Vec<Claim>,
    /// Transfer registers that other microengines reach, as the chip's programs say.
    #[serde(skip)]
    pub exposed: RemoteAccess,
    pub stalls: Vec<Stall>,
    /// When it is woken next for the end of a stall.
    pub stall_due: Cycle,

    pub started: bool,
    /// When the refill after the last idle time begins and ends.
    pub refilled: (Cycle, Cycle),
    /// The slots that were lost last: the first and the cycle after the last.
    pub lost: (Cycle, Cycle),
    pub stats: MeStats,
}

impl MicroengineState {
    pub fn new(local_memory_words: usize) -> Self {
        Self {
            phase: Phase::Idle,
            cycle: 0,
            looked: 0,
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

    /// The running context.
    pub fn context(&mut self) -> &mut Thread {
        &mut self.contexts[context_index(self.running)]
    }

    /// How many context-relative registers a file has.
    pub fn span(&self) -> usize {
        if self.four_contexts { 32 } else { 16 }
    }

    /// The absolute number of a context-relative register.
    pub fn absolute(&self, context: u8, register: u8) -> usize {
        (context_index(context) * (128 / usize::from(CONTEXTS))
            + usize::from(register) % self.span())
            % 128
    }
}
