//! Consistency checks of the tables.

use std::collections::BTreeMap;

use super::instructions::{FlowClass, Form, Leaves, Mnemonic};
use super::sources::Tables;
use super::tables::{
    CountCode, Csr, Evidence, Field, Format, FormatFile, OperandRow, pattern_bits,
};

/// Returns all errors, in table order; empty if the tables are consistent.
pub fn check(tables: &Tables) -> Vec<String> {
    let mut errors = Vec::new();
    formats(tables, &mut errors);
    records(tables, &mut errors);
    enums(tables, &mut errors);
    operands(tables, &mut errors);
    commands(tables, &mut errors);
    for (name, rows, bits) in [
        ("local", &tables.csrs.local, 13),
        ("cap", &tables.csrs.cap, 16),
        ("msf", &tables.csrs.msf, 16),
    ] {
        csrs(name, rows, bits, &mut errors);
    }
    evidence(
        "index_gap",
        &tables.csrs.index_gap.evidence,
        None,
        &mut errors,
    );
    generations(tables, &mut errors);
    mnemonics(tables, &mut errors);
    errors
}

/// Detects duplicate keys.
struct Unique<'a> {
    what: &'a str,
    seen: BTreeMap<String, String>,
    met_twice: bool,
}

impl<'a> Unique<'a> {
    fn new(what: &'a str) -> Self {
        Self {
            what,
            seen: BTreeMap::new(),
            met_twice: false,
        }
    }

    fn add(&mut self, key: &(impl ToString + ?Sized), owner: &str, errors: &mut Vec<String>) {
        let key = key.to_string();
        if let Some(other) = self.seen.insert(key.clone(), owner.to_owned()) {
            let what = self.what;
            self.met_twice = true;
            errors.push(format!("duplicate {what} {key}: {other} and {owner}"));
        }
    }
}

fn evidence(owner: &str, marks: &[Evidence], uncertain: Option<&str>, errors: &mut Vec<String>) {
    if marks.is_empty() {
        errors.push(format!("{owner}: evidence is empty"));
    }
    if marks.contains(&Evidence::Uncertain) && uncertain.is_none() {
        errors.push(format!("{owner}: evidence \"uncertain\" needs a remark"));
    }
    if uncertain.is_some_and(str::is_empty) {
        errors.push(format!("{owner}: the uncertain remark is empty"));
    }
}

/// Checks that fields lie in the word, have a width, do not overlap and have
/// unique names.
fn fields(owner: &str, bits: u32, taken: u64, list: &[Field], errors: &mut Vec<String>) {
    let mut names = Unique::new("field name");
    let mut covered: Vec<(&str, u64)> = vec![("the match bits", taken)];
    for field in list {
        let name = format!("{owner}.{}", field.name);
        names.add(&field.name, &name, errors);
        if field.width == 0 {
            errors.push(format!("{name}: width is zero"));
            continue;
        }
        if field.lo.saturating_add(field.width) > bits {
            errors.push(format!("{name}: lies outside the {bits}-bit word"));
            continue;
        }
        for (other, mask) in &covered {
            if mask & field.mask() != 0 {
                errors.push(format!("{name}: overlaps {other}"));
            }
        }
        covered.push((&field.name, field.mask()));
    }
}

fn formats(tables: &Tables, errors: &mut Vec<String>) {
    let file = &tables.formats;
    let mut names = Unique::new("format or group name");
    for group in &file.group {
        names.add(&group.name, &group.name, errors);
    }
    let mut earlier: Vec<(&str, u64, u64)> = Vec::new();
    for format in &file.format {
        let owner = format!("format {}", format.name);
        names.add(&format.name, &owner, errors);
        evidence(
            &owner,
            &format.evidence,
            format.uncertain.as_deref(),
            errors,
        );
        for group in &format.groups {
            if !file.group.iter().any(|known| &known.name == group) {
                errors.push(format!("{owner}: there is no group {group}"));
            }
        }
        let pattern = &format.pattern;
        if pattern.is_empty() || pattern.len() > 8 || pattern.chars().any(|c| !"01.".contains(c)) {
            errors.push(format!(
                "{owner}: match {pattern:?} is not one to eight of 0, 1 and ."
            ));
            continue;
        }
        let (mask, value) = pattern_bits(pattern, file.word_bits);
        for (other, other_mask, other_value) in &earlier {
            if (value ^ other_value) & mask & other_mask == 0 {
                errors.push(format!("{owner}: overlaps format {other}"));
            }
        }
        earlier.push((&format.name, mask, value));
        fields(&owner, file.word_bits, mask, &file.fields(format), errors);
        let restricted = format.groups.iter().all(|group| group != "memory");
        if !restricted && file.width_of(&format!("{}.command", format.name)).is_none() {
            errors.push(format!("{owner}: a memory format needs a command field"));
        }
    }
}

fn records(tables: &Tables, errors: &mut Vec<String>) {
    let mut names = Unique::new("record name");
    for record in &tables.formats.record {
        let owner = format!("record {}", record.name);
        names.add(&record.name, &owner, errors);
        evidence(
            &owner,
            &record.evidence,
            record.uncertain.as_deref(),
            errors,
        );
        if record.bits == 0 || record.bits > 63 {
            errors.push(format!("{owner}: bits must be 1 to 63"));
            continue;
        }
        fields(&owner, record.bits, 0, &record.field, errors);
    }
}

fn fits(code: u64, width: u32) -> bool {
    width >= 64 || code >> width == 0
}

fn enums(tables: &Tables, errors: &mut Vec<String>) {
    let mut names = Unique::new("enum name");
    let mut codes: BTreeMap<&str, Unique> = BTreeMap::new();
    for list in &tables.enums.enums {
        let owner = format!("enum {}", list.name);
        names.add(&list.name, &owner, errors);
        let width = tables.formats.width_of(&list.field);
        if width.is_none() {
            errors.push(format!("{owner}: there is no field {}", list.field));
        }
        let mut variants = Unique::new("variant");
        let mut texts = Unique::new("text");
        let seen = codes
            .entry(&list.field)
            .or_insert_with(|| Unique::new("code"));
        for value in &list.value {
            let row = format!("{}::{}", list.name, value.name);
            evidence(&row, &value.evidence, value.uncertain.as_deref(), errors);
            variants.add(&value.name, &row, errors);
            for text in value.aliases.iter().chain([&value.text]) {
                texts.add(&text.to_lowercase(), &row, errors);
            }
            seen.add(&value.code, &row, errors);
            if width.is_some_and(|width| !fits(value.code, width)) {
                errors.push(format!(
                    "{row}: code {} does not fit {}",
                    value.code, list.field
                ));
            }
        }
    }
    for (field, used) in codes {
        if let (true, Some(width)) = (used.met_twice, tables.formats.width_of(field)) {
            let free: Vec<String> = (0..1_u64 << width)
                .map(|code| code.to_string())
                .filter(|code| !used.seen.contains_key(code))
                .collect();
            errors.push(format!("free codes of {field}: {}", free.join(", ")));
        }
    }
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
    (a.1 ^ b.1) & a.0 & b.0 == 0
}

fn operands(tables: &Tables, errors: &mut Vec<String>) {
    let mut names = Unique::new("operand form");
    for form in &tables.operands.form {
        let owner = format!("operand form {}", form.name);
        names.add(&form.name, &owner, errors);
        let mut earlier: Vec<(&OperandRow, (u64, u64))> = Vec::new();
        let mut kinds = Unique::new("operand kind");
        for row in &form.row {
            let name = format!("{} {}", form.name, row.text);
            evidence(&name, &row.evidence, row.uncertain.as_deref(), errors);
            kinds.add(row.kind.variant(), &name, errors);
            if row.pattern.len() != form.bits as usize
                || row.pattern.chars().any(|c| !"01.".contains(c))
            {
                errors.push(format!(
                    "{name}: match {:?} is not {} of 0, 1 and .",
                    row.pattern, form.bits
                ));
                continue;
            }
            if !row.source && !row.dest {
                errors.push(format!(
                    "{name}: neither source nor destination, so unreachable"
                ));
            }
            let bits = pattern_bits(&row.pattern, form.bits);
            for (other, other_bits) in &earlier {
                let same_role = (row.source && other.source) || (row.dest && other.dest);
                if same_role && overlap(bits, *other_bits) {
                    errors.push(format!("{name}: overlaps {}", other.text));
                }
            }
            earlier.push((row, bits));
        }
    }
    let mut unused = Unique::new("unused operand");
    for entry in &tables.operands.unused {
        let owner = format!("unused operand {}", entry.name);
        unused.add(&entry.name, &owner, errors);
        evidence(&owner, &entry.evidence, None, errors);
        match tables
            .operands
            .form
            .iter()
            .find(|form| form.name == entry.form)
        {
            None => errors.push(format!("{owner}: there is no form {}", entry.form)),
            Some(form) if !fits(entry.value, form.bits) => {
                errors.push(format!("{owner}: value does not fit {} bits", form.bits));
            }
            Some(_) => {}
        }
    }
}

fn commands(tables: &Tables, errors: &mut Vec<String>) {
    let file = &tables.commands;
    let token_width = tables.formats.width_of("address.token").unwrap_or(0);
    let count_width = tables.formats.width_of("memory.count").unwrap_or(0);
    if token_width == 0 || count_width == 0 {
        errors.push("commands need the fields address.token and memory.count".to_owned());
    }
    if !fits(file.ignore_error_token, token_width) {
        errors.push("ignore_error_token does not fit the token field".to_owned());
    }
    let mut units = Unique::new("unit");
    let mut unit_formats = Unique::new("unit format");
    for unit in &file.unit {
        let owner = format!("unit {}", unit.name);
        units.add(&unit.name, &owner, errors);
        unit_formats.add(&unit.format, &owner, errors);
        if !tables.formats.format.iter().any(|f| f.name == unit.format) {
            errors.push(format!("{owner}: there is no format {}", unit.format));
        }
        let highest = match unit.count_code {
            CountCode::MinusOne => unit.max_count.wrapping_sub(1),
            CountCode::Raw => unit.max_count,
        };
        if !fits(highest, count_width) {
            errors.push(format!("{owner}: max_count does not fit the count field"));
        }
    }
    let mut ops = Unique::new("command");
    let mut names = Unique::new("command name");
    let mut codes = Unique::new("command code");
    for command in &file.command {
        let owner = format!("command {}", command.op);
        evidence(
            &owner,
            &command.evidence,
            command.uncertain.as_deref(),
            errors,
        );
        ops.add(&command.op, &owner, errors);
        names.add(
            &format!("{}[{}]", command.unit, command.name),
            &owner,
            errors,
        );
        let Some(unit) = file.unit.iter().find(|unit| unit.name == command.unit) else {
            errors.push(format!("{owner}: there is no unit {}", command.unit));
            continue;
        };
        let code_width = tables
            .formats
            .width_of(&format!("{}.command", unit.format))
            .unwrap_or(0);
        if !fits(command.code, code_width) {
            errors.push(format!("{owner}: code {} does not fit", command.code));
        }
        if !fits(command.token, token_width) {
            errors.push(format!("{owner}: token {} does not fit", command.token));
        }
        let mut tokens = vec![command.token];
        if command.ignore_error {
            if command.token & file.ignore_error_token != 0 {
                errors.push(format!("{owner}: its token holds the ignore_error bit"));
            }
            tokens.push(command.token | file.ignore_error_token);
        }
        for token in tokens {
            codes.add(
                &format!("{} {} token {token}", unit.name, command.code),
                &owner,
                errors,
            );
        }
    }
}

fn csrs(name: &str, rows: &[Csr], bits: u32, errors: &mut Vec<String>) {
    let mut names = Unique::new("CSR name");
    let mut addresses = Unique::new("CSR address");
    for row in rows {
        let owner = format!("{name} CSR {}", row.name);
        evidence(&owner, &row.evidence, row.uncertain.as_deref(), errors);
        if row.count.is_some() != row.stride.is_some()
            || row.count.is_some() != row.name.contains('#')
        {
            errors.push(format!("{owner}: #, count and stride go together"));
            continue;
        }
        for alias in &row.aliases {
            names.add(alias, &owner, errors);
        }
        for (instance, address) in row.instances() {
            let owner = format!("{name} CSR {instance}");
            names.add(&instance, &owner, errors);
            addresses.add(&format!("{address:#x}"), &owner, errors);
            if !fits(address, bits) || address % 4 != 0 {
                errors.push(format!(
                    "{owner}: {address:#x} is not a longword address of {bits} bits"
                ));
            }
        }
    }
}

fn generations(tables: &Tables, errors: &mut Vec<String>) {
    let mut names = Unique::new("generation");
    for row in &tables.generations.generation {
        let owner = format!("generation {}", row.name);
        names.add(&row.name.to_lowercase(), &owner, errors);
        evidence(&owner, &row.evidence, row.uncertain.as_deref(), errors);
    }
}

fn mnemonics(tables: &Tables, errors: &mut Vec<String>) {
    let mut names = Unique::new("mnemonic");
    for row in &tables.mnemonics.mnemonic {
        let owner = format!("mnemonic {}", row.name);
        evidence(&owner, &row.evidence, row.uncertain.as_deref(), errors);
        for name in row.aliases.iter().chain([&row.name]) {
            names.add(name, &owner, errors);
        }
        let format = tables.formats.format.iter().find(|f| f.name == row.format);
        match format {
            None => errors.push(format!("{owner}: there is no format {}", row.format)),
            Some(format) => {
                let width = defer_width(&tables.formats, format);
                if !fits(row.defer, width) {
                    errors.push(format!("{owner}: defer {} cannot be encoded", row.defer));
                }
            }
        }
        let known = &tables.generations.generation;
        if !known.iter().any(|it| it.name == row.since) {
            errors.push(format!("{owner}: there is no generation {}", row.since));
        }
        if row.form.is_empty() {
            errors.push(format!("{owner}: it has no form"));
        }
        for form in &row.form {
            self::form(tables, row, form, &owner, errors);
        }
        if !row.syntax.contains(&row.name) {
            errors.push(format!("{owner}: the syntax does not show it"));
        }
    }
}

fn form(tables: &Tables, row: &Mnemonic, form: &Form, owner: &str, errors: &mut Vec<String>) {
    for name in form.names() {
        if tables.mnemonics.operand(name).is_none() {
            errors.push(format!("{owner}: there is no operand {name}"));
        }
    }
    if form.code.is_some() && (form.variant.is_some() || row.format != "alu") {
        errors.push(format!(
            "{owner}: code is for instructions of the alu class without a variant"
        ));
    }
    if form.code.is_some() && !(form.has("src") || form.has("entry")) {
        errors.push(format!("{owner}: code needs a source"));
    }
    let leaves_result = matches!(form.leaves, Leaves::Result);
    if form.codes && !leaves_result {
        errors.push(format!(
            "{owner}: what sets the condition codes leaves a result"
        ));
    }
    if form.defer.is_some_and(|defer| defer > row.defer) {
        errors.push(format!("{owner}: a form defers more than the instruction"));
    }
    if form.defer.unwrap_or(row.defer) > 0 && form.flow == FlowClass::Next {
        errors.push(format!("{owner}: only control transfers have defer slots"));
    }
}

/// Returns the width of the defer field: the two-bit `next` field for commands,
/// `defer` for branches.
fn defer_width(file: &FormatFile, format: &Format) -> u32 {
    file.fields(format)
        .iter()
        .find(|field| field.name == "defer" || field.name == "next")
        .map_or(0, |field| field.width)
}
