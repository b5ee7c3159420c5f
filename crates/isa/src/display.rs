//! Canonical text of instructions, with physical register names and numeric addresses.

use std::fmt::{self, Display, Formatter};

use crate::{
    Bank, CamLmTarget, CapAccess, CapCsr, Command, Completion, CrcBytes, CtxArb, ImmedSelector,
    ImmedShift, IndexStep, Instruction, MulPhase, MulWidth, Operand, Shift, ShiftCount,
    TransferRegister, immed_fields,
};

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let letter = |bank| match bank {
            Bank::A => 'a',
            Bank::B => 'b',
        };
        let mark = |step| match step {
            IndexStep::Keep => "",
            IndexStep::Increment => "++",
            IndexStep::Decrement => "--",
        };
        match *self {
            Self::None => write!(f, "--"),
            Self::Gpr(bank, number) => write!(f, "{}{number}", letter(bank)),
            Self::GprAbsolute(bank, number) => write!(f, "@{}{number}", letter(bank)),
            Self::STransfer(number) => write!(f, "${number}"),
            Self::DTransfer(number) => write!(f, "$${number}"),
            Self::SIndexed(step) => write!(f, "*$index{}", mark(step)),
            Self::DIndexed(step) => write!(f, "*$$index{}", mark(step)),
            Self::LocalMemory { pointer, offset } => write!(f, "*l$index{pointer}[{offset}]"),
            Self::LocalMemoryStep { pointer, step } => {
                write!(f, "*l$index{pointer}{}", mark(step))
            }
            Self::NnPeek => write!(f, "*n$index"),
            Self::NnRing => write!(f, "*n$index++"),
            Self::Nn(number) => write!(f, "n${number}"),
            Self::Constant(value) => write!(f, "{value}"),
        }
    }
}

impl Display for TransferRegister {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "--"),
            Self::S(number) => write!(f, "${number}"),
            Self::D(number) => write!(f, "$${number}"),
        }
    }
}

/// The suffix of the last operand: empty without a shift, else `, <<n`.
impl Display for Shift {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => Ok(()),
            Self::Left(n) => write!(f, ", <<{n}"),
            Self::Right(n) => write!(f, ", >>{n}"),
            // The rotation by the smaller count.
            Self::RotateRight(n) if (17..32).contains(&n) => write!(f, ", <<rot{}", 32 - n),
            Self::RotateRight(n) => write!(f, ", >>rot{n}"),
            Self::LeftIndirect => write!(f, ", <<indirect"),
            Self::RightIndirect => write!(f, ", >>indirect"),
        }
    }
}

/// The suffix of the constant.
impl Display for ImmedShift {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::By8 => write!(f, ", {}", ImmedSelector::By8),
            Self::By16 => write!(f, ", {}", ImmedSelector::By16),
        }
    }
}

impl Display for ShiftCount {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(n) => write!(f, ">>{n}"),
            Self::Indirect => write!(f, ">>indirect"),
        }
    }
}

impl Display for MulWidth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(crate::encode::mul_type(*self).text())
    }
}

impl Display for MulPhase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // The start word is the same for every width.
            Self::Start => write!(f, "{}_start", MulWidth::W16x16),
            Self::Step(width, step) => write!(f, "{width}_step{step}"),
        }
    }
}

/// The suffix of a `cam_lookup`.
impl Display for CamLmTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ", lm_addr{}[{}]", self.pointer, self.block)
    }
}

/// The suffix of a command: `, sig_done[sN]` or `, ctx_swap[sN]` with `defer`.
impl Display for Completion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Silent => Ok(()),
            Self::SigDone(signal) => write!(f, ", sig_done[s{signal}]"),
            Self::CtxSwap { signal, defer } => {
                write!(f, ", ctx_swap[s{signal}]{}", Defer(defer))
            }
        }
    }
}

struct Defer(u8);

impl Display for Defer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            n => write!(f, ", defer[{n}]"),
        }
    }
}

/// Returns the constant of an `immed`. An inverted one is shown as the longword whose upper half is
/// all ones; the shift follows as written.
fn constant(value: u16, invert: bool) -> u32 {
    let value = u32::from(value);
    if invert { !value } else { value }
}

/// Returns the text if the condition holds, else an empty string.
fn only_if(condition: bool, text: &'static str) -> &'static str {
    if condition { text } else { "" }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.mnemonic();
        let defer = Defer(self.defer());
        match *self {
            Self::Alu { op, dest, a, b } => write!(f, "{name}[{dest}, {a}, {op}, {b}]"),
            Self::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            } => write!(f, "{name}[{dest}, {a}, {op}, {b}{shift}]"),
            Self::DblShf { dest, a, b, count } => write!(f, "{name}[{dest}, {a}, {b}, {count}]"),
            Self::Asr { dest, src, count } => write!(f, "{name}[{dest}, {src}, {count}]"),
            Self::ByteAlign { dest, src, .. } => write!(f, "{name}[{dest}, {src}]"),
            Self::Unary { op, dest, src } if op.has_dest() => write!(f, "{name}[{dest}, {src}]"),
            Self::Unary { src, .. } => write!(f, "{name}[{src}]"),
            Self::LdField {
                dest,
                mask,
                src,
                shift,
                load_cc,
                ..
            } => {
                write!(f, "{name}[{dest}, {mask:04b}, {src}{shift}]")?;
                f.write_str(only_if(load_cc, ", load_cc"))
            }
            Self::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                let wide = constant(value, invert);
                // Without a shift the constant stands for the first encoding that gives it, which
                // for 0xffff0000 is a shifted 0xffff.
                let first = immed_fields(wide) == Some((value, shift, invert));
                let unshifted = only_if(shift == ImmedShift::None && !first, ", <<0");
                write!(f, "{name}[{dest}, {wide:#x}{shift}{unshifted}]")
            }
            Self::ImmedByte { dest, value, .. } => write!(f, "{name}[{dest}, {value:#x}]"),
            Self::ImmedWord { dest, value, .. } => write!(f, "{name}[{dest}, {value:#x}]"),
            Self::Nop | Self::CamClear => f.write_str(name),
            Self::MulStep { phase, a, b } => write!(f, "{name}[{a}, {b}], {phase}"),
            Self::MulLast { width, high, dest } => {
                let last = if high { "last2" } else { "last" };
                write!(f, "{name}[{dest}, --], {width}_{last}")
            }
            Self::CamLookup { dest, src, lm_addr } => {
                let option = lm_addr.map_or(String::new(), |target| target.to_string());
                write!(f, "{name}[{dest}, {src}]{option}")
            }
            Self::CamWrite { entry, src, state } => write!(f, "{name}[{entry}, {src}, {state}]"),
            Self::CamWriteState { entry, state } => write!(f, "{name}[{entry}, {state}]"),
            Self::Crc {
                kind,
                dest,
                src,
                bytes,
                bit_swap,
                ..
            } => {
                write!(f, "{name}[{kind}, {dest}, {src}]")?;
                if bytes != CrcBytes::All {
                    write!(f, ", {bytes}")?;
                }
                f.write_str(only_if(bit_swap, ", bit_swap"))
            }
            Self::Branch { target, .. } => write!(f, "{name}[L{target}]{defer}"),
            Self::BranchCtx {
                context, target, ..
            } => write!(f, "{name}[{context}, L{target}]{defer}"),
            Self::BranchSignal { signal, target, .. } => {
                write!(f, "{name}[s{signal}, L{target}]{defer}")
            }
            Self::BranchInputState { state, target, .. } => {
                write!(f, "{name}[{}, L{target}]{defer}", state.number())
            }
            Self::BranchBit {
                src, bit, target, ..
            } => write!(f, "{name}[{src}, {bit}, L{target}]{defer}"),
            Self::BranchByte {
                src,
                byte,
                value,
                target,
                ..
            } => write!(f, "{name}[{src}, {byte}, {value}, L{target}]{defer}"),
            Self::Jump { src, base: 0, .. } => write!(f, "{name}[{src}]{defer}"),
            Self::Jump { src, base, .. } => write!(f, "{name}[{src}, L{base}]{defer}"),
            Self::CtxArb(arb) => arb.fmt(f),
            Self::LocalCsrRead { csr } => write!(f, "{name}[{csr:#x}]"),
            Self::LocalCsrWrite { csr, src } => write!(f, "{name}[{csr:#x}, {src}]"),
            Self::Command(command) => command.fmt(f),
            Self::CapFastWrite {
                csr,
                data,
                indirect,
            } => {
                let indirect = only_if(indirect, ", indirect_ref");
                write!(f, "{name}[fast_wr, {data}, {csr:#x}]{indirect}")
            }
            Self::CapCsr(access) => access.fmt(f),
        }
    }
}

impl Display for CtxArb {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kill = self.any && self.mask == 0;
        write!(f, "ctx_arb[")?;
        if self.breakpoint {
            write!(f, "bpt")?;
        } else if self.keep_mask {
            write!(f, "--")?;
        } else if kill {
            write!(f, "kill")?;
        } else {
            let mut comma = "";
            for bit in 0..u16::BITS {
                if self.mask >> bit & 1 == 1 {
                    match bit {
                        0 => write!(f, "voluntary")?,
                        signal => write!(f, "{comma}s{signal}")?,
                    }
                    comma = ", ";
                }
            }
        }
        write!(f, "]")?;
        f.write_str(only_if(self.any && !kill, ", any"))?;
        Defer(self.defer).fmt(f)?;
        match self.resume {
            None => Ok(()),
            Some(address) => write!(f, ", br[L{address}]"),
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let info = self.op.info();
        let name = Instruction::Command(*self).mnemonic();
        let transfer = self.transfer;
        if info.takes_operands {
            write!(
                f,
                "{name}[{}, {transfer}, {}, {}",
                info.name, self.a, self.b
            )?;
        } else {
            write!(f, "{name}[{transfer}")?;
        }
        if info.takes_count {
            write!(f, ", {}", self.count)?;
        }
        let indirect = only_if(self.indirect, ", indirect_ref");
        let ignore = only_if(self.ignore_data_error, ", ignore_data_error");
        write!(f, "]{}{indirect}{ignore}", self.completion)
    }
}

impl Display for CapCsr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            csr,
            transfer,
            count,
            completion,
            ..
        } = self;
        let indirect = only_if(self.indirect, ", indirect_ref");
        match self.access {
            CapAccess::Read => write!(f, "cap[read, {transfer}, {csr:#x}, {count}]")?,
            CapAccess::Write => write!(f, "cap[write, {transfer}, {csr:#x}, {count}]")?,
            CapAccess::FastWriteAlu => write!(f, "cap[fast_wr, ALU, {csr:#x}]")?,
        }
        write!(f, "{completion}{indirect}")
    }
}
