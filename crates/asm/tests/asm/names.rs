//! Each register of each word has the name that the source gives it at that point.

use std::fs;
use std::path::Path;

use crate::support::{image, run_with};
use npsim_asm::Options;
use npsim_image::{Image, ProgramPoint};
use npsim_testkit::exact_names::inexact_names;

#[test]
fn corpus_programs_have_exact_register_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut wrong = Vec::new();
    let mut words = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "uc") {
            continue;
        }
        // These sources concatenate names, keep them in values, spell them differently, or give words as numbers, so no
        // text contains the names.
        let nameless = [
            "pp-paste",
            "pp-define-eval-text",
            "implied-registers",
            "implied-elements",
            "transfer-other-spelling",
            "transfer-spellings-scopes",
            "word",
        ];
        if path
            .file_stem()
            .is_some_and(|name| nameless.iter().any(|it| name == *it))
        {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for spill_moves in [false, true] {
            let options = Options {
                spill_moves,
                ..Options::default()
            };
            let assembly = run_with(&text, &options);
            if let Some(image) = &assembly.image {
                words += image.words.len();
                let mut messages = assembly.diagnostics.iter();
                let unreachable = messages.any(|d| d.code == "unreachable-code");
                let found = inexact_names(image, &assembly.sources, unreachable);
                wrong.extend(
                    found
                        .into_iter()
                        .map(|line| format!("{}: {line}", path.display())),
                );
            }
        }
    }
    assert!(words > 500, "{words}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn names(image: &Image, address: u16) -> Vec<&str> {
    let uses = image.registers_used(address).into_iter();
    uses.flat_map(|used| image.register_at(used))
        .map(|symbol| symbol.name.as_str())
        .collect()
}

#[test]
fn register_name_can_change_within_a_word() {
    let image =
        image(".reg x y\nimmed[x, 1]\nalu[y, x, +, 1]\nlocal_csr_wr[0x10, y]\nctx_arb[kill]\n");
    let operand = |name: &str| {
        let symbol = image.registers.iter().find(|symbol| symbol.name == name);
        symbol.unwrap().operand
    };
    assert_eq!(operand("x"), operand("y"));
    assert_eq!(names(&image, 0), ["x"]);
    assert_eq!(names(&image, 1), ["y", "x"]);
    assert_eq!(names(&image, 2), ["y"]);
    let live: Vec<String> = image
        .registers
        .iter()
        .map(|symbol| symbol.live.iter().map(ToString::to_string).collect())
        .collect();
    assert_eq!(live, ["0+..1", "1+..2"]);
}

#[test]
fn transfer_registers_are_live_until_their_signal() {
    let image = image(
        ".reg a\n.reg read $in\n.reg write $out\n.sig s t\n\
         immed[a, 0]\nalu[$out, --, B, a]\n\
         sram[write, $out, a, 0, 1], sig_done[s]\n\
         sram[read, $in, a, 0, 1], sig_done[t]\n\
         nop\nctx_arb[s, t]\nalu[a, --, B, $in]\nlocal_csr_wr[0x10, a]\nctx_arb[kill]\n",
    );
    let symbol = |name: &str| image.registers.iter().find(|s| s.name == name).unwrap();
    let text = |ranges: &[npsim_image::LiveRange]| {
        let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        ranges.join(" ")
    };
    assert_eq!(text(&symbol("$out").live_out), "1+..5+");
    assert_eq!(text(&symbol("$out").live), "");
    assert_eq!(text(&symbol("$in").live), "3+..6");
    let signals: Vec<String> = image.signals.iter().map(|s| text(&s.live)).collect();
    assert_eq!(signals, ["2+..5+", "3+..5+"]);
    // No register is live at address 8.
    assert!(image.registers.iter().all(|symbol| {
        let ranges = symbol.live.iter().chain(&symbol.live_out);
        ranges
            .clone()
            .all(|range| !range.contains(ProgramPoint::before(8)))
    }));
}

#[test]
fn image_records_scopes_statements_and_arguments() {
    let image = image(
        "#macro put(ring, data)\n.begin\n.reg at\nimmed[at, ring]\nalu[data, data, +, at]\n.end\n#endm\n\
         .reg count\nimmed[count, 1]\nput((1 + 2), count)\n\
         .if (count > 3)\nput(4, count)\n.endif\nlocal_csr_wr[0x10, count]\nctx_arb[kill]\n",
    );
    let arguments: Vec<_> = image
        .expansions
        .iter()
        .map(|used| &used.arguments)
        .collect();
    let pair = |ring: &str| {
        vec![
            ("ring".to_owned(), ring.to_owned()),
            ("data".to_owned(), "count".to_owned()),
        ]
    };
    assert_eq!(arguments, [&pair("(1 + 2)"), &pair("4")]);
    let scopes: Vec<_> = image
        .scopes
        .iter()
        .map(|scope| {
            (
                scope.parent,
                scope.begin.line,
                scope.end.line,
                scope.begin.expansion,
            )
        })
        .collect();
    assert_eq!(
        scopes,
        [
            (None, 1, 16, None),
            (Some(0), 2, 6, Some(0)),
            (Some(0), 2, 6, Some(1))
        ]
    );
    // `.if` makes a comparison and a branch; all other statements make one word each.
    let test = image
        .origins
        .iter()
        .position(|origin| origin.line == 11)
        .unwrap() as u16;
    let wanted: Vec<u16> = (0..image.words.len() as u16)
        .filter(|n| *n != test + 1)
        .collect();
    assert_eq!(image.statements, wanted);
}

#[test]
fn name_resolves_to_the_innermost_scope() {
    let image = image(
        "\
.reg x y
.operand_synonym alias x
immed[x, 1]
.begin
.reg x
    immed[x, 2]
    alu[y, x, +, 1]
    .begin
        alu[y, y, +, alias]
    .end
.end
alu[y, y, +, alias]
alu[y, x, +, y]
ctx_arb[kill]
",
    );
    let scopes: Vec<_> = (0..7).filter_map(|at| image.scope_of(at)).collect();
    assert_eq!(scopes, [0, 1, 1, 2, 0, 0, 0]);
    assert_eq!(image.scope_chain(2).collect::<Vec<_>>(), [2, 1, 0]);
    let operand = |name: &str, at| {
        let meant = image.registers_named(name, ProgramPoint::before(at));
        let [one] = meant[..] else {
            return None;
        };
        Some((one.symbol.scope, one.symbol.operand))
    };
    let (outer, inner) = (operand("x", 5).unwrap(), operand("x", 2).unwrap());
    assert_eq!((outer.0, inner.0), (0, 1));
    assert_ne!(outer.1, inner.1, "both are alive at word 2");
    // Both are live, and only one is meant.
    let alive = image.registers_live_at(ProgramPoint::before(2));
    let x: Vec<_> = alive.iter().filter(|it| it.symbol.name == "x").collect();
    assert_eq!(x.len(), 2);
    assert_eq!(x.iter().filter(|it| it.visible).count(), 1);
    // The synonym is replaced as text, so in the inner scope it means the inner register, which
    // ends at word 3.
    assert_eq!(operand("alias", 3), operand("x", 3));
    assert_eq!(operand("alias", 4), Some(outer));
    assert_eq!(operand("x", 6), None, "nothing needs it any more");
}

#[test]
fn words_map_to_statements_macros_and_branches() {
    let image = image(
        "\
#macro add(to, what)
    alu[to, to, +, what]
#endm
#macro twice(to)
    add(to, 1)
    add(to, 2)
#endm
.reg x
immed[x, 0]
twice(x)
.if (x == 3)
    br[end#], defer[1]
    add(x, 4)
.endif
end#:
ctx_arb[kill]
",
    );
    let lines = |at| {
        let mut seen = Vec::new();
        for frame in image.frames(at) {
            let name = frame.used.map(|used| used.name.as_str());
            seen.push((frame.origin.line, name));
        }
        seen
    };
    assert_eq!(lines(0), [(9, None)]);
    assert_eq!(lines(1), [(2, Some("add")), (5, Some("twice")), (10, None)]);
    assert_eq!(lines(2), [(2, Some("add")), (6, Some("twice")), (10, None)]);
    let used = image.frames(2)[0].used.unwrap();
    let given: Vec<_> = used.arguments.iter().map(|it| (&*it.0, &*it.1)).collect();
    assert_eq!(given, [("to", "x"), ("what", "2")]);
    // The comparison of `.if` and its branch are one statement.
    assert_eq!(image.statement_at(3), 3..5);
    assert_eq!(image.statement_at(4), 3..5);
    assert!(image.begins_statement(3) && !image.begins_statement(4));
    let slot = (0..image.words.len() as u16).find(|at| image.deferred_by(*at).is_some());
    assert_eq!(slot, Some(6));
    assert_eq!(image.deferred_by(6), Some(5));
    assert_eq!(lines(6), [(2, Some("add")), (13, None)]);
}
