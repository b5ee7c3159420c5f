//! Evaluation of expressions on a chip in its present state.

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::fabric::TransferKind;
use npsim_image::{Image, ProgramPoint, TransferDirection};
use npsim_inspect::BufferHolder;
use npsim_inspect::Inspect;
use npsim_isa::{Context, Operand};

use super::parse::{relative, whole};
use super::{Binary, Expression, ExpressionNode, Lvalue, RingField, RunNumber, Unary};
use crate::error::DebugError;
use crate::names::{Memory, NamedRegister, ProjectNames, Ring, argument, named};

/// The scope of an evaluation: a chip, and a context at an instruction.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationScope<'a> {
    /// The chip.
    pub chip: &'a Chip,
    /// The project's names.
    pub names: &'a ProjectNames,
    /// The cycle before which everything has happened.
    pub cycle: Cycle,
    /// Microengine.
    pub me: u8,
    /// Context.
    pub context: u8,
    /// Where names are looked up: before the instruction that is about to execute, or after the one
    /// with which the context went to sleep.
    pub point: ProgramPoint,
}

impl Expression {
    /// The value.
    ///
    /// # Errors
    /// Returns an error if the expression names something that does not exist.
    pub fn value(&self, scope: &EvaluationScope<'_>) -> Result<u64, DebugError> {
        scope.value(&self.node)
    }

    /// The expression with all names replaced by what they currently refer to, so that its meaning
    /// is independent of where the context goes.
    ///
    /// # Errors
    /// Returns an error if the expression names something that does not exist.
    pub fn bound(&self, scope: &EvaluationScope<'_>) -> Result<Self, DebugError> {
        scope.value(&self.node)?;
        Ok(Self {
            text: self.text.clone(),
            node: scope.bound(&self.node)?,
        })
    }

    /// The location that the expression refers to, if it is just a name.
    ///
    /// # Errors
    /// Returns an error if the expression is computed, or names something that
    /// does not exist.
    pub fn location(&self, scope: &EvaluationScope<'_>) -> Result<Lvalue, DebugError> {
        scope.value(&self.node)?;
        match scope.bound(&self.node)? {
            ExpressionNode::Register(operand, side) => Ok(Lvalue::Register(operand, side)),
            ExpressionNode::Word(memory, address) => {
                Ok(Lvalue::Word(memory, scope.address(memory, &address)?))
            }
            ExpressionNode::Signal(number) => {
                let number = number.parse().unwrap_or_default();
                Ok(Lvalue::Signal(number))
            }
            _ => Err(
                DebugError::new(format!("`{self}` is computed and has no place of its own"))
                    .help("name a register, a signal or a longword such as `sram0[0x100]`"),
            ),
        }
    }

    /// Checks that all names in the expression can have a meaning at a point.
    ///
    /// # Errors
    /// Returns an error if one cannot.
    pub fn check(
        &self,
        image: &Image,
        names: &ProjectNames,
        point: ProgramPoint,
    ) -> Result<(), DebugError> {
        check(&self.node, image, names, point)
    }
}

fn check(
    node: &ExpressionNode,
    image: &Image,
    names: &ProjectNames,
    point: ProgramPoint,
) -> Result<(), DebugError> {
    let inner = |node: &ExpressionNode| check(node, image, names, point);
    match node {
        ExpressionNode::Constant(_)
        | ExpressionNode::Own(_)
        | ExpressionNode::Register(..)
        | ExpressionNode::Csr(_) => Ok(()),
        ExpressionNode::Name(name) if names.memory(name).is_some() => Ok(()),
        ExpressionNode::Name(name) => match named(image, name, point) {
            Err(_) if constant(image, name, point).is_some() => Ok(()),
            Err(_) if relative(name).is_some() => Ok(()),
            found => found.map(|_| ()),
        },
        ExpressionNode::Out(name) => named(image, name, point).map(|_| ()),
        ExpressionNode::Signal(name) => signal(image, name, point).map(|_| ()),
        ExpressionNode::Ring(name, _) => names.ring(name).map(|_| ()),
        ExpressionNode::Named(name, address) => {
            memory(names, name)?;
            inner(address)
        }
        ExpressionNode::Word(_, node)
        | ExpressionNode::Cam(node, _)
        | ExpressionNode::Unary(_, node) => inner(node),
        ExpressionNode::Binary(_, a, b) => inner(a).and_then(|()| inner(b)),
        ExpressionNode::Choice(a, b, c) => inner(a).and_then(|()| inner(b)).and_then(|()| inner(c)),
    }
}

/// The number that a macro's parameter stands for.
fn constant(image: &Image, name: &str, point: ProgramPoint) -> Option<ExpressionNode> {
    let node = whole(argument(image, name, point)?).ok()?;
    matches!(node, ExpressionNode::Constant(_)).then_some(node)
}

fn memory(names: &ProjectNames, name: &str) -> Result<(Memory, u32, u32), DebugError> {
    names.memory(name).ok_or_else(|| {
        let known = names.memories().iter().map(|it| it.0.as_str());
        let known = known.chain(["scratch", "sram0", "sram1", "dram", "lm"]);
        DebugError::new(format!("no memory is called `{name}`"))
            .or_similar(name, known)
            .or_help("memories are scratch, sram0, dram, lm and what the project names")
    })
}

/// The number of a signal, given by name or number.
fn signal(image: &Image, name: &str, point: ProgramPoint) -> Result<u8, DebugError> {
    if let Ok(number @ 1..=15) = name.parse() {
        return Ok(number);
    }
    match named(image, name, point)? {
        NamedRegister::Signal(symbol) => Ok(symbol.number),
        NamedRegister::Register(..) => Err(DebugError::new(format!(
            "`{name}` is a register, not a signal"
        ))),
    }
}

impl EvaluationScope<'_> {
    fn core(&self) -> Result<&dyn Core, DebugError> {
        let cores = self.chip.microengines();
        let core = cores.get(usize::from(self.me)).map(|core| &**core);
        core.ok_or_else(|| DebugError::new(format!("there is no microengine {}", self.me)))
    }

    fn image(&self) -> Result<&Image, DebugError> {
        Ok(self.core()?.program().image())
    }

    /// The value of a register of the context.
    ///
    /// # Errors
    /// Returns an error if the chip has no such microengine.
    pub fn register(&self, operand: Operand, side: TransferDirection) -> Result<u32, DebugError> {
        let core = self.core()?;
        // Contexts are 16 registers apart, even if every other one has 32.
        let out = |kind, number: u8| {
            let register = Context::wrapping(self.context).absolute_register(number);
            core.read_out_register(kind, register)
        };
        Ok(match (operand, side) {
            (Operand::STransfer(number), TransferDirection::Write) => out(TransferKind::S, number),
            (Operand::DTransfer(number), TransferDirection::Write) => out(TransferKind::D, number),
            _ => core.read_register(operand, self.context),
        })
    }

    /// The value of a longword of a memory.
    ///
    /// # Errors
    /// Returns an error if there is no memory at this address.
    pub fn word(&self, memory: Memory, address: u32) -> Result<u32, DebugError> {
        let units = self.chip.units();
        let address = address & !3;
        let word = match memory {
            Memory::Scratch => units.scratch.read(address),
            Memory::Sram(channel) if address >> 30 == 0 => {
                units.sram.read_word(u32::from(channel) << 30 | address)
            }
            Memory::Sram(_) => None,
            Memory::Dram => units.dram.read_word(address),
            Memory::Local => {
                let words = self.core()?.local_memory();
                words.get(address as usize / 4).copied()
            }
        };
        word.ok_or_else(|| DebugError::new(format!("{} ends before {address:#x}", memory.name())))
    }

    /// The value of an expression as the address of a longword.
    fn address(&self, memory: Memory, node: &ExpressionNode) -> Result<u32, DebugError> {
        let address = self.value(node)?;
        let name = memory.name();
        let Ok(address) = u32::try_from(address) else {
            return Err(DebugError::new(format!(
                "{name}[{address:#x}]: the address needs more than 32 bits"
            )));
        };
        if address % 4 != 0 {
            let below = address & !3;
            return Err(DebugError::new(format!(
                "{name}[{address:#x}] is not a longword: its address is not a multiple of 4"
            ))
            .help(format!("addresses count bytes: write `{name}[{below:#x}]`")));
        }
        Ok(address)
    }

    /// Number of longwords or entries on a ring or queue.
    #[must_use]
    pub fn fill(&self, ring: Ring) -> u32 {
        let units = self.chip.units();
        match ring {
            Ring::Scratch(number) => units.scratch.ring(number).count(),
            Ring::Queue { channel, entry } => {
                let entry = units.sram.entry(channel, entry);
                entry.map_or(0, npsim_chip::units::sram::QueueEntry::count)
            }
        }
    }

    /// The frame in the context's RBUF element.
    fn packet(&self) -> Result<u64, DebugError> {
        let (me, context) = (self.me, self.context);
        let inspect = Inspect::new(self.chip);
        let mine = |holder| matches!(holder, BufferHolder::Thread { me: m, context: c, .. } if (m, c) == (me, context));
        let mut elements = inspect.rbuf();
        let found = elements.find(|it| mine(it.holder));
        found.and_then(|it| it.frame).ok_or_else(|| {
            DebugError::new(format!(
                "context {me}.{context} has no element of RBUF here"
            ))
            .help("`packet` is the number of the frame in a context's RBUF element")
        })
    }

    fn csr(&self, address: u16) -> Result<u32, DebugError> {
        let inspect = Inspect::new(self.chip);
        let view = inspect.microengine(self.me);
        let value = view.and_then(|view| view.csr(address, self.context));
        value.ok_or_else(|| DebugError::new("this CSR cannot be read here"))
    }

    fn size(&self, ring: Ring) -> Result<u32, DebugError> {
        match ring {
            Ring::Scratch(number) => Ok(self.chip.units().scratch.ring(number).size()),
            Ring::Queue { .. } => Err(DebugError::new("a queue has no size")),
        }
    }

    fn bound(&self, node: &ExpressionNode) -> Result<ExpressionNode, DebugError> {
        Ok(match node {
            ExpressionNode::Name(name) => self.of_name(name)?,
            ExpressionNode::Out(name) => match named(self.image()?, name, self.point)? {
                NamedRegister::Register(symbol, _) => {
                    ExpressionNode::Register(symbol.operand, TransferDirection::Write)
                }
                NamedRegister::Signal(_) => {
                    return Err(DebugError::new(format!(
                        "`{name}` is a signal, not a register"
                    )));
                }
            },
            ExpressionNode::Signal(name) => {
                ExpressionNode::Signal(signal(self.image()?, name, self.point)?.to_string())
            }
            ExpressionNode::Named(name, address) => {
                let (memory, first, bytes) = memory(self.names, name)?;
                let offset = self.bound(address)?;
                if let ExpressionNode::Constant(offset) = offset
                    && offset >= u64::from(bytes)
                {
                    return Err(DebugError::new(format!(
                        "`{name}` has {bytes} bytes, and {offset} is past their end"
                    )));
                }
                let first = ExpressionNode::Constant(first.into());
                let address = ExpressionNode::Binary(Binary::Plus, first.into(), offset.into());
                ExpressionNode::Word(memory, address.into())
            }
            ExpressionNode::Word(memory, address) => {
                ExpressionNode::Word(*memory, self.bound(address)?.into())
            }
            ExpressionNode::Cam(entry, state) => {
                ExpressionNode::Cam(self.bound(entry)?.into(), *state)
            }
            ExpressionNode::Unary(operator, inner) => {
                ExpressionNode::Unary(*operator, self.bound(inner)?.into())
            }
            ExpressionNode::Binary(operator, a, b) => {
                ExpressionNode::Binary(*operator, self.bound(a)?.into(), self.bound(b)?.into())
            }
            ExpressionNode::Choice(a, b, c) => ExpressionNode::Choice(
                self.bound(a)?.into(),
                self.bound(b)?.into(),
                self.bound(c)?.into(),
            ),
            other => other.clone(),
        })
    }

    /// Resolves a name of the program or the project, or a register by number.
    fn of_name(&self, name: &str) -> Result<ExpressionNode, DebugError> {
        match named(self.image()?, name, self.point) {
            Ok(NamedRegister::Register(symbol, side)) => {
                Ok(ExpressionNode::Register(symbol.operand, side))
            }
            Ok(NamedRegister::Signal(symbol)) => {
                Ok(ExpressionNode::Signal(symbol.number.to_string()))
            }
            Err(complaint) => {
                if let Some(number) = constant(self.image()?, name, self.point) {
                    return Ok(number);
                }
                if let Some((_, first, _)) = self.names.memory(name) {
                    return Ok(ExpressionNode::Constant(first.into()));
                }
                match relative(name) {
                    Some(operand) => Ok(ExpressionNode::Register(operand, TransferDirection::Both)),
                    None => Err(complaint),
                }
            }
        }
    }

    fn value(&self, node: &ExpressionNode) -> Result<u64, DebugError> {
        Ok(match node {
            ExpressionNode::Constant(value) => *value,
            ExpressionNode::Own(RunNumber::Cycle) => self.cycle,
            ExpressionNode::Own(RunNumber::Packet) => self.packet()?,
            ExpressionNode::Own(RunNumber::Me) => self.me.into(),
            ExpressionNode::Own(RunNumber::Context) => self.context.into(),
            ExpressionNode::Own(RunNumber::Pc) => self.point.address.into(),
            ExpressionNode::Register(operand, side) => self.register(*operand, *side)?.into(),
            ExpressionNode::Name(_) | ExpressionNode::Out(_) | ExpressionNode::Named(..) => {
                self.value(&self.bound(node)?)?
            }
            ExpressionNode::Signal(name) => {
                let number = signal(self.image()?, name, self.point)?;
                let come = self.core()?.context(self.context).signals;
                u64::from(come >> number & 1)
            }
            ExpressionNode::Word(memory, address) => {
                let address = self.address(*memory, address)?;
                self.word(*memory, address)?.into()
            }
            ExpressionNode::Ring(name, of) => {
                let ring = self.names.ring(name)?;
                match of {
                    RingField::Fill => self.fill(ring).into(),
                    RingField::Size => self.size(ring)?.into(),
                }
            }
            ExpressionNode::Cam(entry, state) => {
                let entry = self.value(entry)?;
                if entry > 15 {
                    return Err(DebugError::new("the CAM has entries 0 to 15"));
                }
                let (tag, its) = self.core()?.cam_entry(entry as u8);
                if *state { its.into() } else { tag.into() }
            }
            ExpressionNode::Csr(address) => self.csr(*address)?.into(),
            ExpressionNode::Unary(operator, inner) => {
                let value = self.value(inner)?;
                match operator {
                    Unary::Minus => (value as u32).wrapping_neg().into(),
                    Unary::Not => u64::from(value == 0),
                    Unary::Complement => (!(value as u32)).into(),
                }
            }
            ExpressionNode::Binary(operator, a, b) => self.binary(*operator, a, b)?,
            ExpressionNode::Choice(condition, yes, no) => {
                if self.value(condition)? != 0 {
                    self.value(yes)?
                } else {
                    self.value(no)?
                }
            }
        })
    }

    fn binary(
        &self,
        operator: Binary,
        a: &ExpressionNode,
        b: &ExpressionNode,
    ) -> Result<u64, DebugError> {
        let a = self.value(a)?;
        match operator {
            Binary::And if a == 0 => return Ok(0),
            Binary::Or if a != 0 => return Ok(1),
            _ => {}
        }
        let b = self.value(b)?;
        // Computations with cycles keep all bits.
        let long = a.max(b) > u64::from(u32::MAX);
        let cut = |value: u64| {
            if long { value } else { u64::from(value as u32) }
        };
        let shifted = |value: Option<u64>| cut(value.unwrap_or(0));
        let shift = u32::try_from(b).unwrap_or(u32::MAX);
        Ok(match operator {
            Binary::Or | Binary::And => u64::from(b != 0),
            Binary::BitOr => a | b,
            Binary::BitXor => a ^ b,
            Binary::BitAnd => a & b,
            Binary::Equal => u64::from(a == b),
            Binary::Unequal => u64::from(a != b),
            Binary::Less => u64::from(a < b),
            Binary::AtMost => u64::from(a <= b),
            Binary::More => u64::from(a > b),
            Binary::AtLeast => u64::from(a >= b),
            Binary::Left => shifted(a.checked_shl(shift)),
            Binary::Right => shifted(a.checked_shr(shift)),
            Binary::Plus => cut(a.wrapping_add(b)),
            Binary::Minus => cut(a.wrapping_sub(b)),
            Binary::Times => cut(a.wrapping_mul(b)),
            Binary::Over | Binary::Rest if b == 0 => {
                return Err(DebugError::new("it divides by zero"));
            }
            Binary::Over => a / b,
            Binary::Rest => a % b,
        })
    }
}
