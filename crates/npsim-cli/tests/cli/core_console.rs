//! The console of the debugger at a program of Thumb code.

use crate::harness::{Dir, root};

/// Calls over which steps go, into which they go, and one that is a jump.
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

#[test]
fn steps_by_lines_of_thumb_code_go_over_calls_and_back() {
    let elf = root().join("crates/xscale/tests/programs/thumb.elf");
    let project = "name = \"thumb\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"a.uc\"\n\
        [gpp]\nprogram = \"thumb.elf\"\n";
    let dir = Dir::new()
        .with("thumb.elf", std::fs::read(elf).expect("the program"))
        .with("a.uc", "ctx_arb[kill]\n")
        .with("script", SCRIPT)
        .with("npsim.toml", project);
    let said = dir
        .npsim("debug . --script script --batch")
        .expect(0, &[])
        .out;
    let stops: Vec<_> = { said.lines() }
        .filter(|line| line.starts_with("core thumb.elf running at "))
        .filter_map(|line| line.split_once(" in "))
        .map(|(_, place)| place)
        .collect();
    let source = include_str!("../../../xscale/tests/programs/thumb.c");
    let at = |function: &str, text: &str| {
        let begin = source
            .find("int main")
            .filter(|_| function == "main")
            .unwrap_or(0);
        let found = source[begin..]
            .find(text)
            .unwrap_or_else(|| panic!("no `{text}`"));
        let line = source[..=begin + found].matches('\n').count() + 1;
        format!("{function} (thumb.c:{line}), supervisor mode")
    };
    let begins = at("main", "\n{");
    let expected = [
        begins.clone(),
        begins,
        at("main", "TIMERS(0x10) = 99"),
        at("main", "TIMERS(0x00) = 0x80"),
        at("main", "INTERRUPTS(0x10)"),
        // Over ARM code, from where on interrupts come.
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
    // Where the call leads back to, without the bit that says Thumb.
    let mut leads =
        { said.lines() }.filter_map(|line| line.split_once("the link register leads to "));
    let last = leads
        .next_back()
        .map(|(_, place)| place)
        .unwrap_or_default();
    assert!(last.contains("c in popped (thumb.c:"), "{said}");
}
