//! The instructions of MEv2, with logical operands.
//!
//! "Logical" operands are those of the source text: the encoder chooses ports, banks and the swap
//! bit, and the decoder undoes that choice.

use crate::{AluOp, CommandOp, Condition, CrcBytes, CrcKind, InputState, Operand, ShfOp, UnaryOp};

/// A shift of the B operand in the `alu_shf` class and `ld_field`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shift {
    /// No shift.
    None,
    /// `<<n`, 1-31.
    Left(u8),
    /// `>>n`, 1-31.
    Right(u8),
    /// `>>rotn`, 1-31; a left rotation by n is a right rotation by 32 - n.
    RotateRight(u8),
    /// `<<indirect`: shifts by the low five bits of the previous instruction's A operand.
    LeftIndirect,
    /// `>>indirect`: like `<<indirect`, to the right.
    RightIndirect,
}

/// A right shift count of `asr` and `dbl_shf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShiftCount {
    /// 1-31
    By(u8),
    /// By the low five bits of the previous instruction's A operand.
    Indirect,
}

/// Byte order of `byte_align` and `crc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    Little,
}

/// Position of the 16-bit constant of `immed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImmedShift {
    /// Bits 15..0.
    None,
    /// Bits 23..8.
    By8,
    /// Bits 31..16.
    By16,
}

/// The operand widths of a `mul_step` sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MulWidth {
    /// 24 by 8 bits: start, step 1, last.
    W24x8,
    /// 16 by 16 bits: start, steps 1-2, last.
    W16x16,
    /// 32 by 32 bits: start, steps 1-4, last, last2.
    W32x32,
}

/// A `mul_step` that takes operands. All widths share the same start word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MulPhase {
    /// `*_start`
    Start,
    /// `*_step1` to `*_step4` (the number, 1-4).
    Step(MulWidth, u8),
}

/// The LM_ADDR pointer that a `cam_lookup` also loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CamLmTarget {
    /// LM_ADDR 0 or 1.
    pub pointer: u8,
    /// The `[n]` of `lm_addr0[n]`, 0-3: bits 11..10 of the pointer.
    pub block: u8,
}

/// When the context of a memory command continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// No signal is requested.
    Silent,
    /// `sig_done[s]`: the signal is raised and the context keeps running. s is 1-15.
    SigDone(u8),
    /// `ctx_swap[s], defer[n]`: the context sleeps until the signal, after n
    /// (0-2) more instructions. s is 0-15 (0 waits for no signal).
    CtxSwap {
        /// The signal number.
        signal: u8,
        /// Defer slots, 0-2.
        defer: u8,
    },
}

/// The transfer register that a memory command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferRegister {
    /// `--`
    None,
    /// `$N`
    S(u8),
    /// `$$N`
    D(u8),
}

/// A memory or I/O command (bit 39 clear).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// Unit and sub-command.
    pub op: CommandOp,
    /// First transfer register.
    pub transfer: TransferRegister,
    /// First address operand as written.
    pub a: Operand,
    /// Second address operand as written; the address is a + b.
    pub b: Operand,
    /// Reference count in the unit's units (longwords, quadwords for DRAM,
    /// operands for hash), 1-8; 0 if the command takes none.
    pub count: u8,
    /// How the command signals its completion.
    pub completion: Completion,
    /// `indirect_ref`: the previous ALU result modifies the command.
    pub indirect: bool,
    /// `ignore_data_error`
    pub ignore_data_error: bool,
}

/// One instruction. Branch targets are absolute word addresses (0-8191),
/// defer counts are 0-3 where the class allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the syntax line of each variant names its fields"
)]
pub enum Instruction {
    /// `alu[dest, a, op, b]`; the unary operators B and ~B read `a`, unless it is `None`, only for
    /// the benefit of an indirect shift after them.
    Alu {
        op: AluOp,
        dest: Operand,
        a: Operand,
        b: Operand,
    },
    /// `alu_shf[dest, a, op, b, shift]`
    AluShf {
        op: ShfOp,
        dest: Operand,
        a: Operand,
        b: Operand,
        shift: Shift,
    },
    /// `dbl_shf[dest, a, b, >>n]`: low longword of {a, b} >> n.
    DblShf {
        dest: Operand,
        a: Operand,
        b: Operand,
        count: ShiftCount,
    },
    /// `asr[dest, src, >>n]`, filled with bit 31 of the previous ALU result.
    Asr {
        dest: Operand,
        src: Operand,
        count: ShiftCount,
    },
    /// `byte_align_be[dest, src]`, `byte_align_le[dest, src]`
    ByteAlign {
        order: ByteOrder,
        dest: Operand,
        src: Operand,
    },
    /// `ld_field[dest, mask, src, shift]` and `ld_field_w_clr`; bit 3 of `mask`
    /// is the most significant byte.
    LdField {
        dest: Operand,
        mask: u8,
        src: Operand,
        shift: Shift,
        clear: bool,
        load_cc: bool,
    },
    /// `immed[dest, value, shift]`; `invert` complements the shifted value.
    Immed {
        dest: Operand,
        value: u16,
        shift: ImmedShift,
        invert: bool,
    },
    /// `immed_b0` to `immed_b3`
    ImmedByte { dest: Operand, byte: u8, value: u8 },
    /// `immed_w0`, `immed_w1`
    ImmedWord { dest: Operand, word: u8, value: u16 },
    /// `nop`
    Nop,
    /// `mul_step[a, b], ...`
    MulStep {
        phase: MulPhase,
        a: Operand,
        b: Operand,
    },
    /// `mul_step[dest, --], *_last` and, with `high`, `32x32_last2`.
    MulLast {
        width: MulWidth,
        high: bool,
        dest: Operand,
    },
    /// An operation of the `alu` class with one source: `ffs[dest, src]`,
    /// `cam_read_tag[dest, entry]` and others; `dest` is `None` if the instruction has no
    /// destination, like `pop_count1[src]`.
    Unary {
        op: UnaryOp,
        dest: Operand,
        src: Operand,
    },
    /// `cam_clear`
    CamClear,
    /// `cam_lookup[dest, src], lm_addrP[n]`
    CamLookup {
        dest: Operand,
        src: Operand,
        lm_addr: Option<CamLmTarget>,
    },
    /// `cam_write[entry, src, state]`, state 0-15
    CamWrite {
        entry: Operand,
        src: Operand,
        state: u8,
    },
    /// `cam_write_state[entry, state]`
    CamWriteState { entry: Operand, state: u8 },
    /// `crc_be[kind, dest, src], bytes, bit_swap` and `crc_le`
    Crc {
        order: ByteOrder,
        kind: CrcKind,
        dest: Operand,
        src: Operand,
        bytes: CrcBytes,
        bit_swap: bool,
    },
    /// `br`, `beq`, ...: branches on condition codes or always.
    Branch {
        condition: Condition,
        target: u16,
        defer: u8,
    },
    /// `br=ctx[n, target]`, `br!=ctx`
    BranchCtx {
        equal: bool,
        context: u8,
        target: u16,
        defer: u8,
    },
    /// `br_signal[s, target]`, `br_!signal`
    BranchSignal {
        set: bool,
        signal: u8,
        target: u16,
        defer: u8,
    },
    /// `br_inp_state[state, target]`, `br_!inp_state`
    BranchInputState {
        set: bool,
        state: InputState,
        target: u16,
        defer: u8,
    },
    /// `br_bset[src, bit, target]`, `br_bclr`
    BranchBit {
        set: bool,
        src: Operand,
        bit: u8,
        target: u16,
        defer: u8,
    },
    /// `br=byte[src, byte, value, target]`, `br!=byte`
    BranchByte {
        equal: bool,
        src: Operand,
        byte: u8,
        value: u8,
        target: u16,
        defer: u8,
    },
    /// `jump[src, base]`; `rtn[src]` is the same word with base 0.
    Jump { src: Operand, base: u16, defer: u8 },
    /// `ctx_arb[...]`
    CtxArb(CtxArb),
    /// `local_csr_rd[csr]`: the value appears in the next instruction's `immed`.
    LocalCsrRead { csr: u16 },
    /// `local_csr_wr[csr, src]`; `csr` is the byte address.
    LocalCsrWrite { csr: u16, src: Operand },
    /// A memory or I/O command.
    Command(Command),
    /// `cap[fast_wr, data, csr]`: 14-bit immediate; `csr` is the 16-bit CAP address
    /// field. `indirect_ref` is a bit of the word that has no effect.
    CapFastWrite { csr: u16, data: u16, indirect: bool },
    /// `cap[read / write / fast_wr ALU, csr]` with an enumerated CSR address.
    CapCsr(CapCsr),
}

/// A `ctx_arb`: yields the microengine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CtxArb {
    /// Bits 15..1 signals, bit 0 voluntary.
    pub mask: u16,
    /// Waits for any of the signals instead of all. With an empty mask: kill.
    pub any: bool,
    /// `bpt`, also spelt `halt`.
    pub breakpoint: bool,
    /// `--`: the wake-up mask is unchanged.
    pub keep_mask: bool,
    /// `br[label#]`: where the context resumes.
    pub resume: Option<u16>,
    /// Defer slots, 0-2.
    pub defer: u8,
}

/// Access to an enumerated CAP CSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CapCsr {
    /// The kind of access.
    pub access: CapAccess,
    /// 16-bit CAP address field.
    pub csr: u16,
    /// Transfer register (`None` for the ALU form).
    pub transfer: TransferRegister,
    /// Longwords, 1-8; 0 for the ALU form.
    pub count: u8,
    /// How the access signals its completion.
    pub completion: Completion,
    /// `indirect_ref`
    pub indirect: bool,
}

impl CapCsr {
    /// Returns the command that carries the access.
    #[must_use]
    pub const fn op(&self) -> CommandOp {
        match self.access {
            CapAccess::Read => CommandOp::CapRead,
            CapAccess::Write | CapAccess::FastWriteAlu => CommandOp::CapWrite,
        }
    }
}

/// The kinds of access to an enumerated CAP CSR, other than the immediate fast write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapAccess {
    /// Read into a transfer register.
    Read,
    /// Write from a transfer register.
    Write,
    /// Write the previous ALU result without pulling data.
    FastWriteAlu,
}
