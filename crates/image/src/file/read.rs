//! Reading image files.

use npsim_isa::{Operand, Step, physical_register};

use super::{ImageFileError, MAGIC, VERSION};
use crate::image::{
    ContextMode, Direction, Image, ImageExpansion, InitialValue, LabelSymbol, NnMode, Origin,
    RegisterSymbol, SignalSymbol,
};
use crate::import::{ImportFixup, ImportPart};

/// Reads an image file.
///
/// # Errors
/// The line that is not as it should be, and why.
pub fn from_file_bytes(bytes: &[u8]) -> Result<Image, ImageFileError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        ImageFileError {
            line: before.split(|b| *b == b'\n').count(),
            message: "the text is not UTF-8".to_owned(),
        }
    })?;
    let mut image = Image::default();
    let mut lines = text
        .strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    header(first).map_err(|message| ImageFileError { line: 1, message })?;
    let mut count = 1;
    for (index, line) in lines.by_ref() {
        let fail = |message: String| ImageFileError {
            line: index + 1,
            message,
        };
        count = index + 1;
        if line == "end" {
            check(&image).map_err(fail)?;
            return match lines.find(|(_, line)| !line.is_empty()) {
                None => Ok(image),
                Some((index, _)) => Err(ImageFileError {
                    line: index + 1,
                    message: "nothing may follow `end`".to_owned(),
                }),
            };
        }
        record(&mut image, line).map_err(fail)?;
    }
    Err(ImageFileError {
        line: count + 1,
        message: "the file ends without `end`".to_owned(),
    })
}

fn header(line: &str) -> Result<(), String> {
    let version = line
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or_else(|| format!("this is no image file: it does not begin with `{MAGIC}`"))?;
    match version.parse::<u32>() {
        Ok(VERSION) => Ok(()),
        Ok(other) => Err(format!(
            "version {other} of the format is not known; this program reads version {VERSION}"
        )),
        Err(_) => Err(format!("`{version}` is no version")),
    }
}

/// What refers to something must find it.
fn check(image: &Image) -> Result<(), String> {
    let calls = image.expansions.iter().map(|used| &used.call);
    for origin in image.origins.iter().chain(calls) {
        if origin.file as usize >= image.files.len() {
            return Err(format!(
                "a place names file {}, but there are {}",
                origin.file,
                image.files.len()
            ));
        }
        if let Some(used) = origin.expansion
            && used as usize >= image.expansions.len()
        {
            return Err(format!(
                "a place names expansion {used}, but there are {}",
                image.expansions.len()
            ));
        }
    }
    // A circle would make the place of a word endless.
    for (index, used) in image.expansions.iter().enumerate() {
        if let Some(enclosing) = used.call.expansion
            && enclosing as usize >= index
        {
            return Err(format!(
                "expansion {index} stands in expansion {enclosing}, but only an earlier one can enclose it"
            ));
        }
    }
    if !image.origins.is_empty() && image.origins.len() != image.words.len() {
        return Err(format!(
            "{} words have {} places",
            image.words.len(),
            image.origins.len()
        ));
    }
    Ok(())
}

fn record(image: &mut Image, line: &str) -> Result<(), String> {
    let mut fields = Fields { rest: line };
    match fields.word("the kind of the line")? {
        "name" => image.name = fields.text("the name")?,
        "contexts" => {
            image.contexts = match fields.word("the number of contexts")? {
                "4" => ContextMode::Four,
                "8" => ContextMode::Eight,
                other => return Err(format!("`{other}` contexts are not possible")),
            };
        }
        "nn-mode" => {
            image.nn_mode = match fields.word("the mode")? {
                "neighbor" => NnMode::Neighbor,
                "self" => NnMode::Own,
                other => return Err(format!("`{other}` is no next-neighbour mode")),
            };
        }
        "file" => image.files.push(fields.text("the path")?),
        "expansion" => image.expansions.push(ImageExpansion {
            name: fields.text("the macro")?,
            call: fields.origin()?,
        }),
        "word" => {
            let word = fields.word("the word")?;
            let digits = word.len() == 10 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u64::from_str_radix(word, 16).ok().filter(|_| digits);
            let value = value.ok_or_else(|| format!("`{word}` is no word of ten hex digits"))?;
            image.words.push(value);
        }
        "origin" => {
            let origin = fields.origin()?;
            image.origins.push(origin);
        }
        "label" => image.labels.push(LabelSymbol {
            name: fields.text("the label")?,
            address: fields.number("the address")?,
        }),
        "register" => image.registers.push(RegisterSymbol {
            name: fields.text("the name")?,
            scope: fields.number("the scope")?,
            operand: fields.operand()?,
            direction: match fields.word("the direction")? {
                "read" => Direction::Read,
                "write" => Direction::Write,
                "both" => Direction::Both,
                other => return Err(format!("`{other}` is no direction")),
            },
        }),
        "signal" => image.signals.push(SignalSymbol {
            name: fields.text("the name")?,
            scope: fields.number("the scope")?,
            number: fields.number("the number")?,
        }),
        "init" => image.initial_values.push(InitialValue {
            register: fields.operand()?,
            context: fields.optional("the context")?,
            value: fields.number("the value")?,
        }),
        "import" => image.imports.push(ImportFixup {
            name: fields.text("the name")?,
            address: fields.number("the address")?,
            part: match fields.word("the part")? {
                "whole" => ImportPart::Whole,
                "low" => ImportPart::Low,
                "high" => ImportPart::High,
                "byte0" => ImportPart::Byte(0),
                "byte1" => ImportPart::Byte(1),
                "byte2" => ImportPart::Byte(2),
                "byte3" => ImportPart::Byte(3),
                other => return Err(format!("`{other}` is no part of a value")),
            },
            shifted: match fields.word("the form")? {
                "shifted" => true,
                "free" => false,
                other => return Err(format!("`{other}` is no form of a constant")),
            },
            value: fields.optional("the value")?,
        }),
        other => return Err(format!("there is no line `{other}`")),
    }
    if fields.rest.is_empty() {
        Ok(())
    } else {
        Err(format!("`{}` is too much", fields.rest.trim_start()))
    }
}

/// The fields of a line that are not read yet.
struct Fields<'a> {
    rest: &'a str,
}

impl<'a> Fields<'a> {
    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        let rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
        let end = rest.find(' ').unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        if word.is_empty() {
            return Err(format!("{what} is missing"));
        }
        self.rest = rest;
        Ok(word)
    }

    fn text(&mut self, what: &str) -> Result<String, String> {
        let open = self.rest.strip_prefix(" \"");
        let rest = open.ok_or_else(|| format!("{what} must stand in quotes"))?;
        let mut text = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.push(match chars.next() {
                    Some((_, 'n')) => '\n',
                    Some((_, 'r')) => '\r',
                    Some((_, c @ ('"' | '\\'))) => c,
                    _ => return Err(format!("{what} has an unknown escape")),
                }),
                other => text.push(other),
            }
        }
        Err(format!("the quotes around {what} are not closed"))
    }

    fn number<T: TryFrom<u32>>(&mut self, what: &str) -> Result<T, String> {
        let word = self.word(what)?;
        number(word).ok_or_else(|| format!("{what} is `{word}`, which is no number that fits"))
    }

    fn optional<T: TryFrom<u32>>(&mut self, what: &str) -> Result<Option<T>, String> {
        let word = self.word(what)?;
        if word == "-" {
            return Ok(None);
        }
        number(word)
            .map(Some)
            .ok_or_else(|| format!("{what} is `{word}`, which is neither `-` nor a number"))
    }

    fn origin(&mut self) -> Result<Origin, String> {
        Ok(Origin {
            file: self.number("the file")?,
            line: self.number("the line")?,
            column: self.number("the column")?,
            expansion: self.optional("the expansion")?,
        })
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let word = self.word("the register")?;
        operand(word).ok_or_else(|| format!("`{word}` is no register"))
    }
}

fn number<T: TryFrom<u32>>(word: &str) -> Option<T> {
    let value = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    T::try_from(value.ok()?).ok()
}

fn operand(word: &str) -> Option<Operand> {
    if let Some(register) = physical_register(word) {
        return Some(register);
    }
    let (index, step) = if let Some(index) = word.strip_suffix("++") {
        (index, Step::Increment)
    } else if let Some(index) = word.strip_suffix("--") {
        (index, Step::Decrement)
    } else {
        (word, Step::Keep)
    };
    let pointer = |digit: &str| digit.parse().ok().filter(|p: &u8| *p < 2);
    match (index, step) {
        ("", Step::Decrement) => Some(Operand::None),
        ("*$index", _) => Some(Operand::SIndexed(step)),
        ("*$$index", _) => Some(Operand::DIndexed(step)),
        ("*n$index", Step::Keep) => Some(Operand::NnPeek),
        ("*n$index", Step::Increment) => Some(Operand::NnRing),
        (constant, Step::Keep) if !constant.starts_with('*') => {
            constant.parse().ok().map(Operand::Constant)
        }
        (memory, Step::Keep) => {
            let (at, offset) = memory
                .strip_prefix("*l$index")?
                .strip_suffix(']')?
                .split_once('[')?;
            Some(Operand::LocalMemory {
                pointer: pointer(at)?,
                offset: offset.parse().ok().filter(|n| *n < 16)?,
            })
        }
        (memory, step) => Some(Operand::LocalMemoryStep {
            pointer: pointer(memory.strip_prefix("*l$index")?)?,
            step,
        }),
    }
}
