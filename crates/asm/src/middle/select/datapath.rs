//! Selection of datapath instructions: arithmetic, shifts, fields, immediates, multiply, CAM, CRC
//! and bit counting.

use npsim_isa::{
    AluOp, ByteOrder, CamLmTarget, CrcBytes, CrcKind, ImmedShift, Instruction as Template,
    MulPhase, MulWidth, OperandRole as Role, ShfOp,
};

use super::builder::Builder;
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::parse::operand::{ShiftAmount, operator, shift};
use crate::front::parse::run;
use crate::front::statement::SourcePlace;
use crate::middle::program::LateKind;
use crate::spelling::closest;

impl Builder<'_, '_> {
    /// Builds the template of a datapath instruction; `None` for other mnemonics.
    pub fn datapath(&mut self, name: &str) -> Result<Option<Template>, Diagnostic> {
        Ok(Some(match name {
            "alu" | "alu_shf" => self.alu(name)?,
            "ld_field" | "ld_field_w_clr" => self.ld_field(name == "ld_field_w_clr")?,
            "immed" | "load_addr" => self.immed()?,
            "immed_b0" | "immed_b1" | "immed_b2" | "immed_b3" => {
                let dest = self.modified(0)?;
                let value = self.late_number(1, LateKind::Byte)?.unwrap_or(0);
                Template::ImmedByte {
                    dest,
                    byte: name.as_bytes()[7] - b'0',
                    value: byte_value(value, self.place(1))?,
                }
            }
            "immed_w0" | "immed_w1" => {
                let dest = self.modified(0)?;
                let value = self.late_number(1, LateKind::Word)?.unwrap_or(0);
                Template::ImmedWord {
                    dest,
                    word: name.as_bytes()[7] - b'0',
                    value: word_value(value, self.place(1))?,
                }
            }
            "mul_step" => self.mul_step()?,
            "crc_be" | "crc_le" => self.crc(order(name))?,
            "cam_lookup" => Template::CamLookup {
                dest: self.dest(0)?,
                src: self.source(1, Role::Src)?,
                lm_addr: self.cam_pointer()?,
            },
            _ => return Ok(None),
        }))
    }

    fn alu(&mut self, name: &str) -> Result<Template, Diagnostic> {
        let op = run(self.operand(2), operator).map_err(|d| {
            let diagnostic =
                d.unwrap_or_else(|| self.place(2).error(codes::SYNTAX, "an operator is missing"));
            let word = self.word(2);
            if word.starts_with("<<") || word.starts_with(">>") {
                return diagnostic
                    .help("a shift is the last operand: `alu_shf[dest, --, B, src, <<n]`");
            }
            match suggested_operator(&word) {
                Some(meant) => diagnostic
                    .help(format!("write `{meant}`"))
                    .patch(self.place(2).span, meant),
                None => diagnostic,
            }
        })?;
        let dest = self.dest(0)?;
        let a = self.source(1, Role::A)?;
        let b = self.source(3, Role::B)?;
        self.locate(Role::Whole, 2);
        let unary = op.is_unary();
        let a_written = self.word(1) != "--";
        for (missing, index) in [(!unary && !a_written, 1), (self.word(3) == "--", 3)] {
            if missing {
                return Err(self
                    .place(index)
                    .error(
                        codes::MISSING_OPERAND,
                        format!("the operator `{}` needs this operand", self.word(2)),
                    )
                    .help("name a register or a constant from 0 to 255"));
            }
        }
        if name == "alu" && self.operand(4).is_empty() {
            return Ok(Template::Alu { op, dest, a, b });
        }
        let shift = self.shift(4)?;
        let Some(op) = ShfOp::from_text(op.text()) else {
            return Err(self
                .place(2)
                .error(
                    codes::OPERATOR_WITH_SHIFT,
                    format!("`{}` cannot be combined with a shift", self.word(2)),
                )
                .note("The shifter feeds only B, ~B, AND, ~AND, AND~ and OR.")
                .help("shift into a register with `alu_shf` first, then use `alu`"));
        };
        Ok(Template::AluShf {
            op,
            dest,
            a,
            b,
            shift,
        })
    }

    fn ld_field(&mut self, clear: bool) -> Result<Template, Diagnostic> {
        let dest = if clear {
            self.dest(0)?
        } else {
            self.modified(0)?
        };
        let text = self.word(1);
        let digits = text
            .strip_suffix('b')
            .or_else(|| text.strip_prefix("0b"))
            .unwrap_or(&text);
        let literal = digits.len() <= 4 && digits.bytes().all(|b| matches!(b, b'0' | b'1'));
        let mask = if literal {
            u8::from_str_radix(digits, 2).ok()
        } else {
            None
        };
        let Some(mask) = mask else {
            return Err(self
                .place(1)
                .error(codes::BYTE_MASK, format!("`{text}` is not a byte mask"))
                .label("four digits of 0 and 1")
                .help(
                    "write one digit per byte, the most significant byte first, such as `0011`",
                ));
        };
        Ok(Template::LdField {
            dest,
            mask,
            src: self.source(2, Role::Src)?,
            shift: self.shift(3)?,
            clear,
            load_cc: self.flag("load_cc")?,
        })
    }

    fn immed(&mut self) -> Result<Template, Diagnostic> {
        let dest = self.dest(0)?;
        let place = self.place(1);
        if self.operand(2).is_empty() {
            let value = self.late_number(1, LateKind::Immed)?.unwrap_or(0);
            let (value, shift, invert) = immed_form(value, place)?;
            return Ok(Template::Immed {
                dest,
                value,
                shift,
                invert,
            });
        }
        self.locate(Role::Shift, 2);
        let shift_place = self.place(2);
        let wrong = || {
            shift_place
                .error(codes::CONSTANT_RANGE, "`immed` shifts by 8 or 16 only")
                .help("write `<<8` or `<<16`")
        };
        let text = run(self.operand(2), shift).map_err(|_| wrong())?;
        let shift = match (text.left, text.count) {
            (_, ShiftAmount::By(tokens)) => match self.selector.constant(tokens, shift_place)? {
                0 => ImmedShift::None,
                8 if text.left => ImmedShift::By8,
                16 if text.left => ImmedShift::By16,
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        };
        let value = self.late_number(1, LateKind::Word)?.unwrap_or(0);
        // With a shift, an upper half of all ones means that the result is inverted: no other
        // notation distinguishes `~(v << 8)` from its other forms.
        let invert = (0xffff_0000..=0xffff_ffff).contains(&value);
        Ok(Template::Immed {
            dest,
            value: word_value(if invert { !value & 0xffff } else { value }, place)?,
            shift,
            invert,
        })
    }

    fn mul_step(&mut self) -> Result<Template, Diagnostic> {
        let step = self.pick(|option| {
            let (width, step) = option.split_once('_')?;
            let (width, steps) = match width {
                "24x8" => (MulWidth::W24x8, 1),
                "16x16" => (MulWidth::W16x16, 2),
                "32x32" => (MulWidth::W32x32, 4),
                _ => return None,
            };
            match step {
                "start" => Some(MulStep::Operands(MulPhase::Start)),
                "last" => Some(MulStep::Last(width, false)),
                "last2" if width == MulWidth::W32x32 => Some(MulStep::Last(width, true)),
                _ => {
                    let n = step.strip_prefix("step")?.parse().ok()?;
                    (1..=steps)
                        .contains(&n)
                        .then_some(MulStep::Operands(MulPhase::Step(width, n)))
                }
            }
        });
        match step {
            Some(MulStep::Operands(phase)) => Ok(Template::MulStep {
                phase,
                a: self.source(0, Role::A)?,
                b: self.source(1, Role::B)?,
            }),
            Some(MulStep::Last(width, high)) => {
                if self.word(1) != "--" {
                    return Err(self
                        .place(1)
                        .error(
                            codes::UNUSED_OPERAND,
                            "the last step of a multiply takes only a destination",
                        )
                        .help("write `--` here")
                        .patch(self.place(1).span, "--"));
                }
                Ok(Template::MulLast {
                    width,
                    high,
                    dest: self.dest(0)?,
                })
            }
            None => Err(self
                .statement
                .place
                .error(codes::MUL_STEP, "`mul_step` does not say which step it is")
                .help(
                    "add `24x8_`, `16x16_` or `32x32_` with `start`, `step1` and so on, or `last`",
                )),
        }
    }

    fn crc(&mut self, order: ByteOrder) -> Result<Template, Diagnostic> {
        let word = self.word(0);
        let Some(kind) = CrcKind::from_text(&word) else {
            return Err(self
                .place(0)
                .error(codes::CRC_KIND, format!("`{word}` is not a CRC"))
                .help("use crc_ccitt, crc_32, crc_iscsi, crc_10, crc_5 or `--`"));
        };
        let bytes = self.pick(CrcBytes::from_text).unwrap_or(CrcBytes::All);
        Ok(Template::Crc {
            order,
            kind,
            dest: self.dest(1)?,
            src: self.source(2, Role::Src)?,
            bytes,
            bit_swap: self.flag("bit_swap")?,
        })
    }

    fn cam_pointer(&mut self) -> Result<Option<CamLmTarget>, Diagnostic> {
        for (pointer, name) in [(0, "lm_addr0"), (1, "lm_addr1")] {
            if let Some(choice) = self.option(name) {
                let block = if choice.arguments.is_empty() {
                    0
                } else {
                    let tokens = Self::argument(choice)?;
                    self.selector
                        .number(tokens, 0..=3, "a local memory block", choice.place)?
                };
                return Ok(Some(CamLmTarget {
                    pointer,
                    block: block as u8,
                }));
            }
        }
        Ok(None)
    }
}

/// Returns the operator that a word stands for in other languages and assemblers, or that it is a
/// typo of.
fn suggested_operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "add" | "plus" | "a+b" => "+",
        "sub" | "minus" | "a-b" => "-",
        "addc" | "adc" | "add_carry" => "+carry",
        "subc" | "sbc" | "sub_carry" | "sbb" => "-carry",
        "rsb" | "subr" => "B-A",
        "&" => "AND",
        "|" => "OR",
        "^" | "eor" => "XOR",
        "~" | "!" | "not" | "com" => "~B",
        "andn" | "bic" | "&~" => "AND~",
        "mov" | "move" | "pass" | "a" => "B",
        _ => return closest(word, AluOp::ALL.into_iter().map(AluOp::text)),
    })
}

enum MulStep {
    Operands(MulPhase),
    Last(MulWidth, bool),
}

fn order(name: &str) -> ByteOrder {
    if name.ends_with("be") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    }
}

/// Returns the 16-bit field, shift and inversion that yield a 32-bit constant. Of several ways, the
/// one without inversion is preferred, then the one with the smaller shift.
pub fn immed_form(value: i64, place: SourcePlace) -> Result<(u16, ImmedShift, bool), Diagnostic> {
    let wide = u32::try_from(value)
        .or_else(|_| i32::try_from(value).map(|negative| negative as u32))
        .map_err(|_| {
            place
                .error(
                    codes::CONSTANT_RANGE,
                    format!("the constant {value} does not fit 32 bits"),
                )
                .help("use a value from -2147483648 to 4294967295")
        })?;
    if let Some(fields) = npsim_isa::immed_fields(wide) {
        return Ok(fields);
    }
    Err(place
        .error(
            codes::CONSTANT_RANGE,
            format!("the constant {wide:#x} does not fit one `immed`"),
        )
        .label("needs two instructions")
        .note(
            "`immed` holds 16 bits, at bit 0, 8 or 16, with zeros around them, or the complement of that.",
        )
        .help(format!(
            "write `immed[reg, {:#x}]` and `immed_w1[reg, {:#x}]`",
            wide & 0xffff,
            wide >> 16
        )))
}

/// Checks a 16-bit field; a negative number stands for its low 16 bits.
pub fn word_value(value: i64, place: SourcePlace) -> Result<u16, Diagnostic> {
    if (-0x8000..=0xffff).contains(&value) {
        return Ok(value as u16);
    }
    Err(place
        .error(
            codes::CONSTANT_RANGE,
            format!("the constant {value} does not fit 16 bits"),
        )
        .help("use a value from 0 to 65535; `(x & 0xffff)` keeps the low half"))
}

/// Checks an 8-bit field; a negative number stands for its low 8 bits.
pub fn byte_value(value: i64, place: SourcePlace) -> Result<u8, Diagnostic> {
    if (-0x80..=0xff).contains(&value) {
        return Ok(value as u8);
    }
    Err(place
        .error(
            codes::CONSTANT_RANGE,
            format!("the constant {value} does not fit 8 bits"),
        )
        .help("use a value from 0 to 255; `(x & 0xff)` keeps the low byte"))
}
