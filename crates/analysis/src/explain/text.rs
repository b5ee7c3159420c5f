//! Explanations as text.

use std::fmt::Write as _;

use super::{ExplainedName, ExplainedWord, Explanation, ProgramPart};

/// Everything about each word.
#[must_use]
pub fn full(explanation: &Explanation) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_full(&mut text, explanation);
    text
}

/// One line per word, below its source line.
#[must_use]
pub fn listing(explanation: &Explanation) -> String {
    let mut text = String::new();
    let _ = write_listing(&mut text, explanation);
    text
}

fn heading(part: &ProgramPart) -> String {
    let ids: Vec<_> = part.microengines.iter().map(u8::to_string).collect();
    let many = if ids.len() == 1 { "" } else { "s" };
    format!("{} on microengine{many} {}", part.source, ids.join(", "))
}

fn write_full(out: &mut String, explanation: &Explanation) -> std::fmt::Result {
    for (index, part) in explanation.programs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let count = part.words.len();
        let many = if count == 1 { "" } else { "s" };
        writeln!(out, "{}: {count} word{many}", heading(part))?;
        for word in &part.words {
            writeln!(out)?;
            write_word(out, word, &explanation.chip)?;
        }
    }
    Ok(())
}

fn write_word(out: &mut String, word: &ExplainedWord, chip: &str) -> std::fmt::Result {
    for label in &word.labels {
        writeln!(out, "{label}#:")?;
    }
    writeln!(out, ".{} {}  {}", word.address, word.word, word.instruction)?;
    let mut line = |name: &str, text: &str| writeln!(out, "  {name:<10} {text}");
    for (index, step) in word.way.iter().enumerate() {
        let name = if index == 0 { "from" } else { "" };
        let used = step
            .used
            .as_ref()
            .map_or(String::new(), |used| format!("   uses macro {used}"));
        line(
            name,
            &format!("{}:{}: {}{used}", step.file, step.line, step.text),
        )?;
    }
    if let (Some(syntax), Some(meaning)) = (word.syntax, word.meaning) {
        line("is", syntax)?;
        line("does", meaning)?;
    }
    if let Some(command) = &word.command {
        let mut text = format!("{} {}: {}", command.unit, command.name, command.meaning);
        let moved = [(command.pulled, "out"), (command.pushed, "in")];
        for (words, way) in moved.into_iter().filter(|(words, _)| *words > 0) {
            let many = if words == 1 { "" } else { "s" };
            let _ = write!(text, "; {words} longword{many} {way}");
        }
        line("sends", &text)?;
        if let Some(cycles) = command.idle_cycles {
            line(
                "latency",
                &format!("{cycles} cycles on an idle {chip} for the least amount of data"),
            )?;
        }
    }
    for (index, named) in word.registers.iter().enumerate() {
        line(
            if index == 0 { "registers" } else { "" },
            &describe_name(named),
        )?;
    }
    for (index, named) in word.signals.iter().enumerate() {
        line(
            if index == 0 { "signals" } else { "" },
            &describe_name(named),
        )?;
    }
    let codes = if word.cost.sets_codes {
        " It sets the condition codes."
    } else {
        ""
    };
    line("costs", &format!("{}{codes}", word.cost.text))?;
    for (index, sentence) in word.beware.iter().enumerate() {
        line(if index == 0 { "beware" } else { "" }, sentence)?;
    }
    if let Some(format) = word.format {
        line("bits", format)?;
    }
    let widest = word.fields.iter().map(|field| field.name.len()).max();
    for field in &word.fields {
        writeln!(
            out,
            "    {:>7}  {:<width$}  {:<7}  {}",
            field.bits,
            field.name,
            format!("{:#x}", field.value),
            field.meaning,
            width = widest.unwrap_or(0)
        )?;
    }
    Ok(())
}

fn describe_name(named: &ExplainedName) -> String {
    let access = named
        .access
        .map_or(String::new(), |a| format!(", as it is {a}"));
    match named.names.as_slice() {
        [] => named.allocated.clone(),
        names => format!("{} is {}{access}", named.allocated, names.join(" or ")),
    }
}

fn write_listing(out: &mut String, explanation: &Explanation) -> std::fmt::Result {
    for (index, part) in explanation.programs.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}:", heading(part))?;
        let mut last = None;
        for word in &part.words {
            // The outermost place is the line in the reader's file.
            let here = word.way.first();
            let place = here.map(|step| (&step.file, step.line));
            if place != last
                && let Some(step) = here
            {
                writeln!(out, "\n{}:{}: {}", step.file, step.line, step.text)?;
                last = place;
            }
            for label in &word.labels {
                writeln!(out, "  {label}#:")?;
            }
            let mut remarks = Vec::new();
            if word.cost.penalty.is_some() {
                let mut cost = format!("{} aborted", word.cost.aborted);
                if word.cost.defer > 0 {
                    let _ = write!(cost, ", defer {}", word.cost.defer);
                }
                if word.cost.swaps {
                    cost += ", swaps";
                }
                remarks.push(cost);
            }
            if let Some(command) = &word.command
                && let Some(cycles) = command.idle_cycles
            {
                remarks.push(format!("{} answers in {cycles}", command.unit));
            }
            let remarks = if remarks.is_empty() {
                String::new()
            } else {
                format!("   ; {}", remarks.join("; "))
            };
            writeln!(
                out,
                "  .{:<4} {}  {}{remarks}",
                word.address, word.word, word.instruction
            )?;
        }
    }
    Ok(())
}
