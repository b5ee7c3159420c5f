//! The debugger's console on a program of Thumb code.

use crate::harness::Dir;

/// Calls that steps step over, calls that they step into, and one that is a jump.
const SCRIPT: &str = "\
break main
continue
context core
next
next
next
next
next
next
next
next
next
next
next
back next
back next
delete 1
break leaf
continue
where
back step
";

/// The console's output for a script on a test program, and the positions of the core.
fn debug(program: &str, script: &str) -> (String, Vec<String>) {
    let dir = Dir::core_program(program, "").with("script", script);
    let said = dir
        .npsim("debug . --script script --batch")
        .expect(0, &[])
        .out;
    let stops = { said.lines() }
        .filter(|line| line.starts_with("core program.elf running at "))
        .filter_map(|line| line.split_once(" in "))
        .map(|(_, place)| place.to_owned())
        .collect();
    (said, stops)
}

/// The position of the program's first line with a text, after the beginning of `main`.
fn at(function: &str, text: &str) -> String {
    let source = include_str!("../../../xscale/tests/programs/thumb.c");
    let begin = source
        .find("int main")
        .filter(|_| function == "main")
        .unwrap_or(0);
    let found = source[begin..]
        .find(text)
        .unwrap_or_else(|| panic!("no `{text}`"));
    let line = source[..=begin + found].matches('\n').count() + 1;
    format!("{function} (thumb.c:{line}), supervisor mode")
}

#[test]
fn thumb_line_steps_go_over_calls_and_back() {
    let (said, stops) = debug("thumb", SCRIPT);
    let begins = at("main", "\n{");
    let expected = [
        begins.clone(),
        begins,
        at("main", "TIMERS(0x10) = 99"),
        at("main", "TIMERS(0x00) = 0x80"),
        at("main", "INTERRUPTS(0x10)"),
        // Steps over ARM code, after which interrupts arrive.
        at("main", "    irq_on();"),
        at("main", "for (u32 round"),
        // The compiler loads constants of later lines first.
        at("main", "sink += popped(round)"),
        at("main", "sink += hands_over(round)"),
        at("main", "sink += chosen("),
        at("main", "sink += popped(round)"),
        at("main", "sink += recursive(5)"),
        at("main", "sink += hands_over(round)"),
        at("main", "sink += recursive(5)"),
        at("main", "sink += popped(round)"),
        at("leaf", "return value ^ sink"),
        at("leaf", "return value ^ sink"),
        at("popped", "sink += leaf(value)"),
    ];
    assert_eq!(stops, expected, "{said}");
    // The return address of the call, without the Thumb bit.
    let mut leads =
        { said.lines() }.filter_map(|line| line.split_once("the link register leads to "));
    let last = leads
        .next_back()
        .map(|(_, place)| place)
        .unwrap_or_default();
    assert!(last.contains("c in popped (thumb.c:"), "{said}");
}

/// The compiler's helper for a `switch` returns to a case, not to the instruction after its call.
#[test]
fn thumb_step_over_a_switch_ends_at_its_case() {
    let script = "break chosen\ncontinue\ncontext core\n".to_owned()
        + &"next\n".repeat(5)
        + &"back next\n".repeat(2);
    let (said, stops) = debug("thumb-little", &script);
    let [begins, switch, case] =
        ["\n{\n    switch (which)", "switch (which)", "case 0:"].map(|text| at("chosen", text));
    let ends = at("chosen", "}\n\nKEEP static void tick");
    // The compiler mixes the beginning of the function with that of the `switch`.
    let expected = [
        &begins, &begins, &switch, &begins, &switch, &case, &ends, &case, &switch,
    ];
    assert_eq!(stops.iter().collect::<Vec<_>>(), expected, "{said}");
}
