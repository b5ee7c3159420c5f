//! Reading image files.

use npsim_isa::{ContextMode, Generation, IndexStep, Operand, physical_register};

use super::{ImageFileError, MAGIC, OLDEST, VERSION};
use crate::image::{
    Image, ImageExpansion, ImageScope, ImportFixup, ImportPart, InitialLongword, InitialValue,
    LabelSymbol, MemorySpace, NnMode, Origin, RegisterSymbol, SignalSymbol, Synonym,
    TransferDirection,
};
use crate::live::LiveRange;

/// Most levels of nested expansions. The assembler allows 200 levels of macros, and definitions that refer to each
/// other 100 deep.
const MAX_NESTING: usize = 1024;

/// Reads an image file.
///
/// # Errors
/// Returns an error that names the offending line and the reason.
pub(super) fn from_file_bytes(bytes: &[u8]) -> Result<Image, ImageFileError> {
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
    let version = header(first).map_err(|message| ImageFileError { line: 1, message })?;
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
        record(&mut image, version, line).map_err(fail)?;
    }
    Err(ImageFileError {
        line: count + 1,
        message: "the file ends without `end`".to_owned(),
    })
}

/// Returns the version in the first line.
fn header(line: &str) -> Result<u32, String> {
    let version = line
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or_else(|| format!("this is not an image file: it does not begin with `{MAGIC}`"))?;
    match version.parse::<u32>() {
        Ok(version @ OLDEST..=VERSION) => Ok(version),
        Ok(other) => Err(format!(
            "version {other} of the format is not known; this program reads {OLDEST} to {VERSION}"
        )),
        Err(_) => Err(format!("`{version}` is not a version")),
    }
}

/// Checks that all references in the image resolve.
fn check(image: &Image) -> Result<(), String> {
    let calls = image.expansions.iter().map(|used| &used.call);
    let scopes = image.scopes.iter();
    let edges = scopes.flat_map(|scope| [&scope.begin, &scope.end]);
    let synonyms = image.synonyms.iter().map(|it| &it.origin);
    let origins = image.origins.iter().chain(calls).chain(edges);
    for origin in origins.chain(synonyms) {
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
    nesting(image)?;
    if !image.origins.is_empty() && image.origins.len() != image.words.len() {
        return Err(format!(
            "{} words have {} places",
            image.words.len(),
            image.origins.len()
        ));
    }
    scopes_and_addresses(image)
}

/// Checks that expansions stand in earlier ones, as a cycle would make the origin of a word endless, and that they
/// do not nest too deep.
fn nesting(image: &Image) -> Result<(), String> {
    let mut depths: Vec<usize> = Vec::with_capacity(image.expansions.len());
    for (index, used) in image.expansions.iter().enumerate() {
        let around = match used.call.expansion {
            None => 0,
            Some(enclosing) => *depths.get(enclosing as usize).ok_or_else(|| {
                format!(
                    "expansion {index} is inside expansion {enclosing}, but only an earlier one can enclose it"
                )
            })?,
        };
        if around == MAX_NESTING {
            return Err(format!(
                "expansion {index} is inside {around} others, but at most {} can be",
                MAX_NESTING - 1
            ));
        }
        depths.push(around + 1);
    }
    Ok(())
}

/// Checks that scopes exist, and that ranges and statements lie within the
/// words.
fn scopes_and_addresses(image: &Image) -> Result<(), String> {
    for (index, scope) in image.scopes.iter().enumerate() {
        match scope.parent {
            None if index == 0 => {}
            Some(parent) if (parent as usize) < index => {}
            _ => {
                return Err(format!(
                    "scope {index} must be in an earlier scope, and only the first scope is in none"
                ));
            }
        }
    }
    let registers = image.registers.iter().map(|r| (&r.name, r.scope));
    let signals = image.signals.iter().map(|s| (&s.name, s.scope));
    for (name, scope) in registers.chain(signals) {
        // Symbols have scope numbers even in images without scopes.
        if !image.scopes.is_empty() && scope as usize >= image.scopes.len() {
            return Err(format!(
                "`{name}` is of scope {scope}, but there are {}",
                image.scopes.len()
            ));
        }
    }
    if !image.word_scopes.is_empty() && image.word_scopes.len() != image.words.len() {
        return Err(format!(
            "{} words are in scopes, but there are {}",
            image.word_scopes.len(),
            image.words.len()
        ));
    }
    for (address, scope) in image.word_scopes.iter().enumerate() {
        if *scope as usize >= image.scopes.len() {
            return Err(match *scope {
                NO_SCOPE => format!("word {address} is in no scope"),
                _ => format!(
                    "word {address} is in scope {scope}, but there are {}",
                    image.scopes.len()
                ),
            });
        }
    }
    for synonym in &image.synonyms {
        if synonym.scope as usize >= image.scopes.len() {
            return Err(format!(
                "`{}` is of scope {}, but there are {}",
                synonym.name,
                synonym.scope,
                image.scopes.len()
            ));
        }
    }
    let words = image.words.len();
    let registers = image.registers.iter();
    let sides = registers.flat_map(|r| [(&r.name, &r.live), (&r.name, &r.live_out)]);
    let signals = image.signals.iter().map(|s| (&s.name, &s.live));
    for (name, live) in sides.chain(signals) {
        if let Some(range) = live.last()
            && usize::from(range.last.address) >= words
        {
            return Err(format!(
                "`{name}` is live at {range}, but there are {words} words"
            ));
        }
    }
    match image.statements.last() {
        Some(last) if usize::from(*last) >= words => Err(format!(
            "word {last} begins a statement, but there are {words}"
        )),
        _ => Ok(()),
    }
}

fn record(image: &mut Image, version: u32, line: &str) -> Result<(), String> {
    let mut fields = Fields { rest: line };
    let since_two = version >= 2;
    match fields.word("the kind of the line")? {
        "name" => image.name = fields.text("the name")?,
        "contexts" => {
            let contexts = fields.word("the number of contexts")?;
            let mode = contexts.parse().ok().and_then(ContextMode::with_contexts);
            image.contexts =
                mode.ok_or_else(|| format!("`{contexts}` contexts are not possible"))?;
        }
        "generation" => {
            let name = fields.word("the generation")?;
            image.generation = Generation::from_name(name)
                .ok_or_else(|| format!("`{name}` is not a generation of the microengine"))?;
        }
        "nn-mode" => {
            image.nn_mode = match fields.word("the mode")? {
                "neighbor" => NnMode::Neighbor,
                "self" => NnMode::Own,
                other => return Err(format!("`{other}` is not a next-neighbour mode")),
            };
        }
        "file" => image.files.push(fields.text("the path")?),
        "expansion" => image.expansions.push(ImageExpansion {
            name: fields.text("the macro")?,
            call: fields.origin()?,
            arguments: if since_two {
                fields.arguments()?
            } else {
                Vec::new()
            },
        }),
        "scope" if since_two => image.scopes.push(ImageScope {
            parent: fields.optional("the enclosing scope")?,
            begin: fields.origin()?,
            end: fields.origin()?,
        }),
        "statements" if since_two => fields.addresses(&mut image.statements)?,
        newer @ ("scope" | "statements") => {
            return Err(format!("the line `{newer}` needs version 2 or later"));
        }
        "within" if version >= 3 => {
            let scope = fields.number("the scope")?;
            let mut inside = Vec::new();
            fields.addresses(&mut inside)?;
            place_in_scope(image, scope, &inside)?;
        }
        "synonym" if version >= 3 => image.synonyms.push(Synonym {
            name: fields.text("the name")?,
            scope: fields.number("the scope")?,
            operand: fields.text("the operand")?,
            origin: fields.origin()?,
        }),
        newer @ ("within" | "synonym") => {
            return Err(format!("the line `{newer}` needs version 3 or later"));
        }
        "word" => {
            let word = fields.word("the word")?;
            let digits = word.len() == 10 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u64::from_str_radix(word, 16).ok().filter(|_| digits);
            let value = value.ok_or_else(|| format!("`{word}` is not a word of ten hex digits"))?;
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
        "register" => image.registers.push(fields.register(since_two)?),
        "signal" => image.signals.push(SignalSymbol {
            name: fields.text("the name")?,
            scope: fields.number("the scope")?,
            number: fields.number("the number")?,
            live: if since_two {
                fields.live()?
            } else {
                Vec::new()
            },
        }),
        "init" => image.initial_values.push(InitialValue {
            register: fields.operand()?,
            context: fields.optional("the context")?,
            value: fields.number("the value")?,
        }),
        "memory" => image.initial_memory.push(InitialLongword {
            space: {
                let name = fields.word("the memory")?;
                let mut spaces = MemorySpace::ALL.into_iter();
                let found = spaces.find(|(_, known)| *known == name);
                found.ok_or_else(|| format!("`{name}` is not a memory"))?.0
            },
            address: fields.number("the address")?,
            value: fields.number("the value")?,
        }),
        "import" => image.imports.push(fields.import()?),
        other => return Err(format!("unknown line `{other}`")),
    }
    if fields.rest.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "unexpected `{}` at the end of the line",
            fields.rest.trim_start()
        ))
    }
}

/// Scope of a word that no line has placed in a scope.
const NO_SCOPE: u32 = u32::MAX;

/// Places words in a scope.
fn place_in_scope(image: &mut Image, scope: u32, inside: &[u16]) -> Result<(), String> {
    image.word_scopes.resize(image.words.len(), NO_SCOPE);
    for address in inside {
        match image.word_scopes.get_mut(usize::from(*address)) {
            Some(place) if *place == NO_SCOPE => *place = scope,
            Some(_) => return Err(format!("word {address} is in two scopes")),
            None => {
                let words = image.words.len();
                return Err(format!(
                    "word {address} is in a scope, but there are {words}"
                ));
            }
        }
    }
    Ok(())
}

/// The fields of a line that are still to be read.
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
        let rest = open.ok_or_else(|| format!("{what} must be in quotes"))?;
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
        number(word)
            .ok_or_else(|| format!("{what} is `{word}`, which is not a number or is too large"))
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

    fn import(&mut self) -> Result<ImportFixup, String> {
        Ok(ImportFixup {
            name: self.text("the name")?,
            address: self.number("the address")?,
            part: match self.word("the part")? {
                "whole" => ImportPart::Whole,
                "low" => ImportPart::Low,
                "high" => ImportPart::High,
                "byte0" => ImportPart::Byte(0),
                "byte1" => ImportPart::Byte(1),
                "byte2" => ImportPart::Byte(2),
                "byte3" => ImportPart::Byte(3),
                other => return Err(format!("`{other}` is not a part of a value")),
            },
            shifted: match self.word("the form")? {
                "shifted" => true,
                "free" => false,
                other => return Err(format!("`{other}` is not a form of a constant")),
            },
            value: self.optional("the value")?,
        })
    }

    fn register(&mut self, since_two: bool) -> Result<RegisterSymbol, String> {
        let mut symbol = RegisterSymbol {
            name: self.text("the name")?,
            scope: self.number("the scope")?,
            operand: self.operand()?,
            direction: match self.word("the direction")? {
                "read" => TransferDirection::Read,
                "write" => TransferDirection::Write,
                "both" => TransferDirection::Both,
                other => return Err(format!("`{other}` is not a direction")),
            },
            live: Vec::new(),
            live_out: Vec::new(),
        };
        if since_two {
            symbol.live = self.live()?;
            if let Some(rest) = self.rest.strip_prefix(" out") {
                self.rest = rest;
                symbol.live_out = self.live()?;
            }
        }
        Ok(symbol)
    }

    /// Reads live ranges up to the end of the line or `out`.
    fn live(&mut self) -> Result<Vec<LiveRange>, String> {
        let mut live: Vec<LiveRange> = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(" out") {
            let word = self.word("the live range")?;
            let range: LiveRange = word
                .parse()
                .map_err(|()| format!("`{word}` is not a live range such as `3+..7`"))?;
            if live.last().is_some_and(|before| before.last >= range.first) {
                return Err(format!("the live range {range} is out of order"));
            }
            live.push(range);
        }
        Ok(live)
    }

    /// Reads the parameters of a macro and their arguments.
    fn arguments(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut arguments = Vec::new();
        while !self.rest.is_empty() {
            let parameter = self.text("the parameter")?;
            arguments.push((parameter, self.text("the argument")?));
        }
        Ok(arguments)
    }

    /// Reads addresses and ranges of addresses, in ascending order.
    fn addresses(&mut self, known: &mut Vec<u16>) -> Result<(), String> {
        while !self.rest.is_empty() {
            let word = self.word("the address")?;
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let run = number::<u16>(first).zip(number::<u16>(last));
            let (first, last) = run
                .filter(|(first, last)| first <= last)
                .ok_or_else(|| format!("`{word}` is neither an address nor a run such as `3-7`"))?;
            if known.last().is_some_and(|before| *before >= first) {
                return Err(format!("address {word} is out of order"));
            }
            known.extend(first..=last);
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<Operand, String> {
        let word = self.word("the register")?;
        operand(word).ok_or_else(|| format!("`{word}` is not a register"))
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
        (index, IndexStep::Increment)
    } else if let Some(index) = word.strip_suffix("--") {
        (index, IndexStep::Decrement)
    } else {
        (word, IndexStep::Keep)
    };
    let pointer = |digit: &str| digit.parse().ok().filter(|p: &u8| *p < 2);
    match (index, step) {
        ("", IndexStep::Decrement) => Some(Operand::None),
        ("*$index", _) => Some(Operand::SIndexed(step)),
        ("*$$index", _) => Some(Operand::DIndexed(step)),
        ("*n$index", IndexStep::Keep) => Some(Operand::NnPeek),
        ("*n$index", IndexStep::Increment) => Some(Operand::NnRing),
        (constant, IndexStep::Keep) if !constant.starts_with('*') => {
            constant.parse().ok().map(Operand::Constant)
        }
        (memory, IndexStep::Keep) => {
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

#[cfg(test)]
mod tests {
    use super::{MAX_NESTING, from_file_bytes};

    #[test]
    fn expansions_nest_up_to_the_limit() {
        let nested = |levels: usize| {
            let mut lines = vec!["npsim-image 3".to_owned(), "file \"a.uc\"".to_owned()];
            lines.push("expansion \"m\" 0 1 1 -".to_owned());
            lines.extend((0..levels - 1).map(|it| format!("expansion \"m\" 0 1 1 {it}")));
            lines.push("end\n".to_owned());
            from_file_bytes(lines.join("\n").as_bytes())
        };
        let image = nested(MAX_NESTING).unwrap();
        assert_eq!(image.expansions.len(), MAX_NESTING);
        let error = nested(MAX_NESTING + 1).unwrap_err().to_string();
        assert!(
            error.contains("expansion 1024 is inside 1024 others, but at most 1023 can be"),
            "{error}"
        );
    }
}
