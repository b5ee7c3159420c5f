//! Lowering of conditions to tests and branches.

use super::condition::{BindingTime, ConditionKind, ConditionNode, Operator};
use super::writer::StatementWriter;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::constant;
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind};
use crate::middle::select::forms::immed_form;

/// Lowers one condition to instructions.
pub struct Tester<'w, 'a> {
    /// Output for the instructions.
    pub writer: &'w mut StatementWriter<'a>,
    /// Output for diagnostics.
    pub diagnostics: &'w mut Vec<Diagnostic>,
    /// Whether comparisons are unsigned.
    pub unsigned: bool,
    /// The place of the directive.
    pub place: SourcePlace,
}

/// Returns the 32-bit value of a part that is known now.
fn number(node: &ConditionNode, place: SourcePlace) -> Result<u32, Diagnostic> {
    let place = node.place(place);
    let value = constant::evaluate(&node.tokens, place)?;
    u32::try_from(value)
        .or_else(|_| i32::try_from(value).map(|negative| negative as u32))
        .map_err(|_| {
            place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("the constant {value} does not fit 32 bits"),
                )
                .help("use a value from -2147483648 to 4294967295")
        })
}

fn compare(operator: Operator, left: u32, right: u32, unsigned: bool) -> bool {
    // Flipping the sign bits makes signed order equal to unsigned order.
    let flip = if unsigned { 0 } else { 1 << 31 };
    let (a, b) = (left ^ flip, right ^ flip);
    match operator {
        Operator::Equal => a == b,
        Operator::NotEqual => a != b,
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        _ => a >= b,
    }
}

/// Returns whether to swap the sides first, and the branches taken if a comparison holds and if it
/// does not. The carry is set if there is no borrow, so unsigned "greater" is "less" with swapped
/// sides.
fn branches(operator: Operator, unsigned: bool) -> (bool, [&'static str; 2]) {
    match (operator, unsigned) {
        (Operator::Equal, _) => (false, ["beq", "bne"]),
        (Operator::NotEqual, _) => (false, ["bne", "beq"]),
        (Operator::Less, false) => (false, ["blt", "bge"]),
        (Operator::GreaterOrEqual, false) => (false, ["bge", "blt"]),
        (Operator::Greater, false) => (false, ["bgt", "ble"]),
        (Operator::LessOrEqual, false) => (false, ["ble", "bgt"]),
        (Operator::Less, true) => (false, ["blo", "bhs"]),
        (Operator::GreaterOrEqual, true) => (false, ["bhs", "blo"]),
        (Operator::Greater, true) => (true, ["blo", "bhs"]),
        (_, _) => (true, ["bhs", "blo"]),
    }
}

impl Tester<'_, '_> {
    /// Returns the value of the condition if it is known before the program runs.
    ///
    /// # Errors
    /// Returns an error if a constant in it has no value.
    pub fn decided(&self, node: &ConditionNode) -> Result<Option<bool>, Diagnostic> {
        match &node.kind {
            ConditionKind::Not(inner) => Ok(self.decided(inner)?.map(|value| !value)),
            ConditionKind::Binary(Operator::AndAlso, left, right) => match self.decided(left)? {
                Some(true) => self.decided(right),
                other => Ok(other),
            },
            ConditionKind::Binary(Operator::OrElse, left, right) => match self.decided(left)? {
                Some(false) => self.decided(right),
                other => Ok(other),
            },
            ConditionKind::Binary(operator, left, right)
                if operator.is_test() && node.known == BindingTime::AssemblyTime =>
            {
                let truth = |node: &ConditionNode| -> Result<u32, Diagnostic> {
                    match &node.kind {
                        ConditionKind::Binary(operator, ..) if operator.is_test() => {
                            Ok(u32::from(self.decided(node)? == Some(true)))
                        }
                        _ => number(node, self.place),
                    }
                };
                let (left, right) = (truth(left)?, truth(right)?);
                Ok(Some(compare(*operator, left, right, self.unsigned)))
            }
            _ if node.known == BindingTime::AssemblyTime => {
                Ok(Some(number(node, self.place)? != 0))
            }
            _ => Ok(None),
        }
    }

    /// Branches to `target` if the condition equals `sense`; falls through otherwise.
    ///
    /// # Errors
    /// Returns an error if the condition cannot be tested.
    pub fn branch(
        &mut self,
        node: &ConditionNode,
        sense: bool,
        target: &Token,
    ) -> Result<(), Diagnostic> {
        if let Some(value) = self.decided(node)? {
            if value == sense {
                self.writer.branch("br", Vec::new(), target);
            }
            return Ok(());
        }
        match &node.kind {
            ConditionKind::Not(inner) => self.branch(inner, !sense, target),
            ConditionKind::Binary(
                operator @ (Operator::AndAlso | Operator::OrElse),
                left,
                right,
            ) => {
                // If one side has no influence, only the other is tested.
                let deciding = *operator == Operator::OrElse;
                if self.decided(left)? == Some(!deciding) {
                    return self.branch(right, sense, target);
                }
                if sense == deciding {
                    self.branch(left, sense, target)?;
                    return self.branch(right, sense, target);
                }
                let past = self.writer.label("past");
                self.branch(left, deciding, &past)?;
                self.branch(right, sense, target)?;
                self.writer.define(past);
                Ok(())
            }
            ConditionKind::Binary(operator, left, right) if operator.is_test() => {
                self.relation(*operator, left, right, sense, target)
            }
            ConditionKind::Bit(value, bit) => self.bit(value, bit, sense, target),
            ConditionKind::Carry => {
                let name = if sense { "bcs" } else { "bcc" };
                self.writer.branch(name, Vec::new(), target);
                Ok(())
            }
            ConditionKind::Signal(signal) => {
                let name = if sense { "br_signal" } else { "br_!signal" };
                self.writer.branch(name, vec![signal.clone()], target);
                Ok(())
            }
            ConditionKind::Input(state) => {
                let name = if sense {
                    "br_inp_state"
                } else {
                    "br_!inp_state"
                };
                self.writer.branch(name, vec![state.clone()], target);
                Ok(())
            }
            _ => {
                self.compute(node, vec![self.writer.punct("--")])?;
                let name = if sense { "bne" } else { "beq" };
                self.writer.branch(name, Vec::new(), target);
                Ok(())
            }
        }
    }

    fn index(&self, node: &ConditionNode, most: u32, what: &str) -> Result<u32, Diagnostic> {
        let place = node.place(self.place);
        if node.known != BindingTime::AssemblyTime {
            return Err(place
                .error(codes::NOT_CONSTANT, format!("{what} must be a constant"))
                .help(
                    "shift the register instead if the number is known only when the program runs",
                ));
        }
        let value = number(node, self.place)?;
        if value > most {
            return Err(place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("{what} of {value} is out of range: 0 to {most}"),
                )
                .help(format!("use a value from 0 to {most}")));
        }
        Ok(value)
    }

    fn bit(
        &mut self,
        value: &ConditionNode,
        bit: &ConditionNode,
        sense: bool,
        target: &Token,
    ) -> Result<(), Diagnostic> {
        let bit = self.index(bit, 31, "a bit number")?;
        let operand = self.narrow(value)?;
        let bit = vec![self.writer.number(u64::from(bit))];
        let name = if sense { "br_bset" } else { "br_bclr" };
        self.writer.branch(name, vec![operand, bit], target);
        Ok(())
    }

    fn relation(
        &mut self,
        operator: Operator,
        left: &ConditionNode,
        right: &ConditionNode,
        sense: bool,
        target: &Token,
    ) -> Result<(), Diagnostic> {
        if matches!(left.kind, ConditionKind::Codes) {
            return self.codes(operator, right, sense, target);
        }
        let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        let equal = sense == (operator == Operator::Equal);
        if equality {
            for (part, other) in [(left, right), (right, left)] {
                if other.known != BindingTime::AssemblyTime {
                    continue;
                }
                let value = number(other, self.place)?;
                match &part.kind {
                    ConditionKind::Bit(register, bit) if value <= 1 => {
                        return self.bit(register, bit, equal == (value == 1), target);
                    }
                    ConditionKind::Byte(register, byte) if value <= 255 => {
                        let byte = self.index(byte, 3, "a byte number")?;
                        let operand = self.narrow(register)?;
                        let rest = [byte, value].map(|n| vec![self.writer.number(u64::from(n))]);
                        let name = if equal { "br=byte" } else { "br!=byte" };
                        let operands = [vec![operand], rest.to_vec()].concat();
                        self.writer.branch(name, operands, target);
                        return Ok(());
                    }
                    ConditionKind::Context => {
                        let n = self.index(other, 7, "a context number")?;
                        let name = if equal { "br=ctx" } else { "br!=ctx" };
                        let number = vec![self.writer.number(u64::from(n))];
                        self.writer.branch(name, vec![number], target);
                        return Ok(());
                    }
                    _ if value == 0 => {
                        self.compute(part, vec![self.writer.punct("--")])?;
                        let name = if equal { "beq" } else { "bne" };
                        self.writer.branch(name, Vec::new(), target);
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
        if !equality && !self.unsigned {
            self.warn_of_negative(left)?;
            self.warn_of_negative(right)?;
        }
        let (a, b) = self.pair(left, right)?;
        let (swap, names) = branches(operator, self.unsigned);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let none = vec![self.writer.punct("--")];
        let minus = vec![self.writer.punct("-")];
        self.writer.emit("alu", vec![none, a, minus, b]);
        self.writer
            .branch(names[usize::from(!sense)], Vec::new(), target);
        Ok(())
    }

    /// Lowers `(==0)`: branches on the condition codes left by the previous instruction.
    fn codes(
        &mut self,
        operator: Operator,
        right: &ConditionNode,
        sense: bool,
        target: &Token,
    ) -> Result<(), Diagnostic> {
        let place = right.place(self.place);
        if right.known != BindingTime::AssemblyTime || number(right, self.place)? != 0 {
            return Err(place
                .error(
                    codes::CONDITION,
                    "the condition codes can only be compared with 0",
                )
                .label("not the constant 0")
                .help("name a register before the comparison, as in `(x == 1)`"));
        }
        let (swap, names) = branches(operator, self.unsigned);
        if swap {
            return Err(self
                .place
                .error(
                    codes::CONDITION,
                    "no branch tests the codes for this unsigned comparison",
                )
                .note("The carry distinguishes less from not less; equality needs another test.")
                .help("name a register before the comparison, as in `(x > 0)`"));
        }
        self.writer
            .branch(names[usize::from(!sense)], Vec::new(), target);
        Ok(())
    }

    /// Warns of a constant that a signed comparison treats as negative although it is not written
    /// as such.
    fn warn_of_negative(&mut self, part: &ConditionNode) -> Result<(), Diagnostic> {
        if part.known != BindingTime::AssemblyTime {
            return Ok(());
        }
        let place = part.place(self.place);
        let value = constant::evaluate(&part.tokens, place)?;
        let Some(value) = u32::try_from(value).ok().filter(|value| *value >= 1 << 31) else {
            return Ok(());
        };
        let warning = place
            .warning(
                codes::SIGNED_COMPARE,
                format!(
                    "a signed compare treats {value:#x} as {}",
                    value.cast_signed()
                ),
            )
            .label("a negative number here")
            .help("compare with `.if_unsigned`, `.while_unsigned` or `.until_unsigned`");
        // The condition of a loop may be lowered at more than one place.
        if !self.diagnostics.contains(&warning) {
            self.diagnostics.push(warning);
        }
        Ok(())
    }

    /// Returns two parts as operands of the same instruction.
    fn pair(
        &mut self,
        left: &ConditionNode,
        right: &ConditionNode,
    ) -> Result<(Vec<Token>, Vec<Token>), Diagnostic> {
        let a = self.value(left)?;
        let b = self.value(right)?;
        let text = |tokens: &[Token]| -> String { tokens.iter().map(|t| &*t.text).collect() };
        // Registers of the same file, other than the banks, share one path, and a register cannot
        // go through both ports.
        let other_file = |tokens: &[Token]| {
            tokens
                .first()
                .is_some_and(|t| t.is("*") || t.text.starts_with('$') || t.text.starts_with("n$"))
        };
        let constant = |tokens: &[Token]| {
            tokens
                .first()
                .is_some_and(|t| matches!(t.kind, TokenKind::Number(_)) || t.is("&"))
        };
        if (other_file(&a) && other_file(&b))
            || (constant(&a) && constant(&b))
            || text(&a) == text(&b)
        {
            return Ok((self.copy(a), b));
        }
        Ok((a, b))
    }

    fn copy(&mut self, operand: Vec<Token>) -> Vec<Token> {
        let temporary = self.writer.temporary();
        let (none, b) = (self.writer.punct("--"), self.writer.ident("B"));
        self.writer.emit(
            "alu",
            vec![vec![temporary.clone()], vec![none], vec![b], operand],
        );
        vec![temporary]
    }

    /// Returns a part as an operand of the shifter, which reaches fewer registers.
    fn narrow(&mut self, node: &ConditionNode) -> Result<Vec<Token>, Diagnostic> {
        let operand = self.value(node)?;
        let wide = operand.first().is_some_and(|t| {
            t.is("*")
                || t.is("&")
                || t.text.starts_with('@')
                || t.text.starts_with("n$")
                || matches!(t.kind, TokenKind::Number(_))
        });
        Ok(if wide { self.copy(operand) } else { operand })
    }

    /// Returns a part as an operand of `alu`.
    fn value(&mut self, node: &ConditionNode) -> Result<Vec<Token>, Diagnostic> {
        match node.known {
            BindingTime::AssemblyTime => {
                let value = number(node, self.place)?;
                if value <= 255 {
                    return Ok(vec![self.writer.number(u64::from(value))]);
                }
                let temporary = vec![self.writer.temporary()];
                let place = node.place(self.place);
                if immed_form(i64::from(value), place).is_ok() {
                    let all = vec![self.writer.number(u64::from(value))];
                    self.writer.emit("immed", vec![temporary.clone(), all]);
                } else {
                    for (name, half) in [("immed", value & 0xffff), ("immed_w1", value >> 16)] {
                        let half = vec![self.writer.number(u64::from(half))];
                        self.writer.emit(name, vec![temporary.clone(), half]);
                    }
                }
                Ok(temporary)
            }
            BindingTime::Deferred
                if node.tokens.first().is_some_and(|t| t.is("&")) && is_leaf(node) =>
            {
                Ok(node.tokens.clone())
            }
            BindingTime::Deferred => {
                let temporary = vec![self.writer.temporary()];
                let open = self.writer.punct("(");
                let close = self.writer.punct(")");
                let half = |writer: &StatementWriter<'_>, operator: &str, by: u64| {
                    let mut tokens = vec![open.clone(), open.clone()];
                    tokens.extend(node.tokens.iter().cloned());
                    tokens.push(close.clone());
                    tokens.push(writer.punct(operator));
                    tokens.push(writer.number(by));
                    tokens.push(close.clone());
                    tokens
                };
                let low = half(self.writer, "&", 0xffff);
                let high = half(self.writer, ">>", 16);
                self.writer.emit("immed", vec![temporary.clone(), low]);
                self.writer.emit("immed_w1", vec![temporary.clone(), high]);
                Ok(temporary)
            }
            BindingTime::RunTime if is_leaf(node) => Ok(node.tokens.clone()),
            BindingTime::RunTime => {
                let temporary = vec![self.writer.temporary()];
                self.compute(node, temporary.clone())?;
                Ok(temporary)
            }
        }
    }

    /// Computes a part into `dest`; the condition codes N and Z reflect the result.
    fn compute(&mut self, node: &ConditionNode, dest: Vec<Token>) -> Result<(), Diagnostic> {
        let none = vec![self.writer.punct("--")];
        if node.known != BindingTime::RunTime || is_leaf(node) {
            let operand = self.value(node)?;
            let b = vec![self.writer.ident("B")];
            self.writer.emit("alu", vec![dest, none, b, operand]);
            return Ok(());
        }
        match &node.kind {
            ConditionKind::Complement(inner) => {
                let operand = self.value(inner)?;
                let op = vec![self.writer.punct("~"), self.writer.joined("B")];
                self.writer.emit("alu", vec![dest, none, op, operand]);
            }
            ConditionKind::Minus(inner) => {
                let operand = self.value(inner)?;
                let zero = vec![self.writer.number(0)];
                let minus = vec![self.writer.punct("-")];
                self.writer.emit("alu", vec![dest, zero, minus, operand]);
            }
            ConditionKind::Binary(Operator::Alu(op), left, right) => {
                let (a, b) = self.pair(left, right)?;
                let op = if op.len() == 1 {
                    self.writer.punct(op)
                } else {
                    self.writer.ident(op)
                };
                self.writer.emit("alu", vec![dest, a, vec![op], b]);
            }
            ConditionKind::Binary(Operator::Shift(way), left, right) => {
                self.shift(way, left, right, dest)?;
            }
            ConditionKind::Bit(value, index) => self.field(value, index, dest, 1)?,
            ConditionKind::Byte(value, index) => self.field(value, index, dest, 8)?,
            ConditionKind::Binary(Operator::Constant, ..) => {
                return Err(node
                    .place(self.place)
                    .error(
                        codes::CONDITION,
                        "only constants can be multiplied or divided in a condition",
                    )
                    .help("compute the product with `mul_step` before the condition"));
            }
            _ => {
                return Err(node
                    .place(self.place)
                    .error(
                        codes::CONDITION,
                        "this has no value to compute with or compare",
                    )
                    .note("A test gives only a branch; `CTX()` can be compared with a constant.")
                    .help("add parentheses so that tests are joined by `&&`, `||` and `!` only"));
            }
        }
        Ok(())
    }

    fn shift(
        &mut self,
        way: &str,
        left: &ConditionNode,
        right: &ConditionNode,
        dest: Vec<Token>,
    ) -> Result<(), Diagnostic> {
        let none = vec![self.writer.punct("--")];
        let b = vec![self.writer.ident("B")];
        if right.known == BindingTime::AssemblyTime {
            let by = self.index(right, 31, "a shift count")?;
            let operand = self.narrow(left)?;
            let by = vec![
                self.writer.punct(way),
                self.writer.joined_number(u64::from(by)),
            ];
            self.writer
                .emit("alu_shf", vec![dest, none, b, operand, by]);
            return Ok(());
        }
        let operand = self.narrow(left)?;
        let amount = self.value(right)?;
        let or = vec![self.writer.ident("OR")];
        let zero = vec![self.writer.number(0)];
        self.writer
            .emit("alu", vec![none.clone(), amount, or, zero]);
        let by = vec![self.writer.punct(way), self.writer.joined("indirect")];
        self.writer
            .emit("alu_shf", vec![dest, none, b, operand, by]);
        Ok(())
    }

    /// Extracts a field of `bits` bits, 1 or 8.
    fn field(
        &mut self,
        value: &ConditionNode,
        index: &ConditionNode,
        dest: Vec<Token>,
        bits: u32,
    ) -> Result<(), Diagnostic> {
        let (most, what) = if bits == 1 {
            (31, "a bit number")
        } else {
            (3, "a byte number")
        };
        let at = self.index(index, most, what)? * bits;
        let operand = self.narrow(value)?;
        let mask = vec![self.writer.number((1 << bits) - 1)];
        let and = vec![self.writer.ident("AND")];
        let by = vec![
            self.writer.punct(">>"),
            self.writer.joined_number(u64::from(at)),
        ];
        self.writer
            .emit("alu_shf", vec![dest, mask, and, operand, by]);
        Ok(())
    }
}

fn is_leaf(node: &ConditionNode) -> bool {
    matches!(node.kind, ConditionKind::Leaf)
}
