//! The report of a stopped run on the place of the stop: the context, registers by name, and the
//! first of two instructions that raised a signal.

use serde_json::Value;

use crate::harness::Dir;

const HALT: &str = "\
.num_contexts 8
.reg total step
    br!=ctx[3, rest#]
    immed[total, 40]
    immed[step, 2]
    alu[total, total, +, step]
    ctx_arb[bpt]
    alu[total, total, +, step]
rest#:
    ctx_arb[kill]
";

#[test]
fn halt_report_names_context_line_and_registers() {
    let dir = Dir::new().with("a.uc", HALT);
    for core in ["engine", "reference"] {
        dir.npsim(&format!("run a.uc --stats out.json --core {core}"))
            .expect(
                0,
                &[
                    "no events pending; microengine 0 was halted by context 3 at a.uc:7",
                    "note: microengine 0 was halted at cycle",
                    "by context 3 at a.uc:7 (address 4), with all its contexts",
                    "total = 0x0000002a (42)",
                    "step  = 0x00000002 (2)",
                ],
            );
        let stats: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        let halt = &stats["nodes"][0]["halts"][0];
        assert_eq!(
            (&halt["me"], &halt["context"], &halt["pc"]),
            (&0.into(), &3.into(), &4.into())
        );
        let registers = halt["registers"].as_array().expect("a list");
        let total = registers
            .iter()
            .find(|it| it["name"] == "total")
            .expect("it is there");
        assert_eq!(total["value"], 42);
    }
}

/// The data of the read is used before it arrives.
const EARLY: &str = "\
.num_contexts 8
.reg read $word
.reg base sum limit
.sig done
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[base, 0x40]
    immed[limit, 9]
    immed[sum, 5]
    scratch[read, $word, base, 0, 1], sig_done[done]
    alu[sum, sum, +, $word]
    ctx_arb[done]
    alu[--, sum, -, limit]
    ctx_arb[kill]
";

#[test]
fn fault_report_shows_live_registers_by_name() {
    let dir = Dir::new().with("a.uc", EARLY);
    let done = dir.npsim("run a.uc --stats out.json").expect(
        3,
        &[
            "error[transfer-in-flight]: `$word` ($0 of context 0) is read while a unit owns it",
            "registers of microengine 0 context 0:",
            "  sum   = 0x00000005 (5)",
            "  limit = 0x00000009 (9)",
        ],
    );
    // The register is dead there.
    assert!(!done.out.contains("  base "), "{}", done.out);
    let stats: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    let registers = stats["nodes"][0]["fault"]["registers"]
        .as_array()
        .expect("a list");
    let names: Vec<_> = registers
        .iter()
        .map(|it| it["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["sum", "$word", "limit"]);
}

/// Contexts 0 and 1 both pass a turn to context 2.
const TWICE: &str = "\
.num_contexts 8
.sig volatile go
.reg at
    immed[at, (2 | (&go << 3))]
    br=ctx[0, second#]
    br=ctx[1, first#]
    br=ctx[2, wait#]
    ctx_arb[kill]
second#:
    ctx_arb[voluntary]
    local_csr_wr[SAME_ME_SIGNAL, at]
    .set_sig go
    ctx_arb[kill]
first#:
    local_csr_wr[SAME_ME_SIGNAL, at]
    .set_sig go
    ctx_arb[kill]
wait#:
    ctx_arb[voluntary]
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    nop
    ctx_arb[go]
    ctx_arb[kill]
";

#[test]
fn signal_raised_twice_names_both_contexts() {
    let dir = Dir::new().with("a.uc", TWICE);
    for core in ["engine", "reference"] {
        let done = dir
            .npsim(&format!("run a.uc --stats out.json --core {core}"))
            .expect(
                3,
                &[
                    "(`go`) of microengine 0 context 2 is raised again before it was consumed",
                    "a.uc:11:5",
                    "ME 0, context 0, pc",
                    "raised first by ME 0 context 1: a.uc:15",
                    "ME 0 context 2, whose signal it is, is here: a.uc:",
                ],
            );
        // Both are underlined.
        assert!(
            done.err
                .contains("15 |     local_csr_wr[SAME_ME_SIGNAL, at]"),
            "{}",
            done.err
        );
        let stats: Value = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
        let fault = &stats["nodes"][0]["fault"];
        assert_eq!((&fault["me"], &fault["context"]), (&0.into(), &0.into()));
        assert_eq!(fault["also"][0]["place"], "a.uc:15");
        assert_eq!(fault["also"][0]["context"], 1);
    }
}

/// Two commands raise the signal that is waited for once.
const COMMANDS: &str = "\
.num_contexts 8
.reg read $a $b
.reg zero left
.sig done
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[zero, 0]
    scratch[read, $a, zero, 0, 1], sig_done[done]
    scratch[read, $b, zero, 4, 1], sig_done[done]
    immed[left, 100]
again#:
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[done]
    ctx_arb[kill]
";

#[test]
fn signal_raised_twice_names_both_commands() {
    let dir = Dir::new().with("a.uc", COMMANDS);
    for core in ["engine", "reference"] {
        dir.npsim(&format!("run a.uc --core {core}")).expect(
            3,
            &[
                "error[signal-raised-twice]: signal",
                "a.uc:10:5",
                "may have raised it first: a.uc:9",
            ],
        );
    }
}

/// Two signals have one number, and two registers one place, at different times.
const SHARED: &str = "\
.num_contexts 8
.reg read $first $second
.reg base
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[base, 0]
.begin
    .sig early
    scratch[read, $first, base, 0, 1], ctx_swap[early]
    alu[base, base, +, $first]
.end
.begin
    .sig late
    scratch[read, $second, base, 0, 1], sig_done[late]
    ctx_arb[late]
    ctx_arb[late]
.end
    alu[--, base, +, $second]
    ctx_arb[kill]
";

#[test]
fn wait_names_the_signal_despite_a_shared_number() {
    let dir = Dir::new().with("a.uc", SHARED);
    dir.npsim("run a.uc")
        .expect(3, &["waits for signal 1 (`late`)"]);
}

/// A unit detects the fault of a command after its issuer has continued.
#[test]
fn fault_report_shows_registers_at_the_current_instruction() {
    let source = "\
.reg read $x
.reg bad other
.sig s
    immed_w1[bad, 0x3fff]
    immed_w0[bad, 0xfffc]
    sram[read, $x, bad, 0, 1], sig_done[s]
    immed[bad, 0]
    alu[other, bad, +, 7]
    ctx_arb[s]
    alu[--, other, +, $x]
    ctx_arb[kill]
";
    let dir = Dir::new().with("a.uc", source);
    dir.npsim("run a.uc").expect(
        3,
        &["a.uc:6", "context 0, now at a.uc:9", "other = 0x00000007"],
    );
}

/// `$first` and `$second` share a register, and `one` and `two` a signal, at different addresses.
const IN_TURN: &str = "\
.num_contexts 8
.reg read $first $second
.reg base
.sig one two
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[base, 0x40]
    scratch[read, $first, base, 0, 1], sig_done[one]
    ctx_arb[one]
    alu[base, base, +, $first]
    scratch[read, $second, base, 0, 1], sig_done[two]
    ctx_arb[two]
    alu[base, base, +, $second]
    ctx_arb[kill]
";

#[test]
fn faults_name_the_live_register() {
    for (signal, register, other) in [("one", "$first", "$second"), ("two", "$second", "$first")] {
        let raised = format!("sig_done[{signal}]\n");
        let early = format!("{raised}    alu[base, base, +, {register}]\n");
        let dir = Dir::new().with("a.uc", IN_TURN.replace(&raised, &early));
        // The reference core reports only numbers.
        let named = format!("`{register}` ($0 of context 0) is read");
        let numbered = "$0 (absolute) is touched".to_owned();
        for (core, told) in [("engine", named), ("reference", numbered)] {
            let done = { dir.npsim(&format!("run a.uc --core {core}")) }
                .expect(3, &[&format!("error[transfer-in-flight]: {told}")]);
            let report = done.err.split("error[").nth(1).expect("a fault");
            assert!(!report.contains(other), "{report}");
        }
    }
}

#[test]
fn waits_name_the_live_signal() {
    let script = "break a.uc:10\ncontinue\nnames\nbreak a.uc:13\ncontinue\nnames\n";
    let dir = Dir::new().with("a.uc", IN_TURN).with("s.txt", script);
    dir.npsim("debug a.uc --script s.txt --batch").expect(
        0,
        &[
            "one is signal 1, has not come",
            "two is signal 1, has not come",
        ],
    );
    let done = dir
        .npsim("run a.uc --profile=p.json --timeline t.json")
        .expect(0, &[]);
    for (signal, line) in [("one", "a.uc:10"), ("two", "a.uc:13")] {
        let row = done
            .out
            .lines()
            .find(|it| it.starts_with("scratch.read") && it.ends_with(line) && it.contains(signal));
        assert!(row.is_some(), "{signal} at {line}: {}", done.out);
    }
    let profile: Value = serde_json::from_slice(&dir.read("p.json")).expect("JSON");
    let mut waits = Vec::new();
    collect(&profile, &mut waits);
    assert_eq!(waits, [("one".to_owned(), 4), ("two".to_owned(), 7)]);
    let timeline = String::from_utf8(dir.read("t.json")).expect("UTF-8");
    let lanes: Vec<_> = { timeline.split("\"waits for ").skip(1) }
        .filter_map(|it| it.split('"').next())
        .collect();
    assert_eq!(lanes, ["one", "two"]);
}

/// The signals of all waits of a profile with the addresses of the instructions that wait.
fn collect(value: &Value, waits: &mut Vec<(String, u64)>) {
    match value {
        Value::Object(fields) => {
            if let (Some(signal), Some(address)) = (
                fields.get("signals").and_then(Value::as_str),
                fields.get("address"),
            ) {
                waits.push((signal.to_owned(), address.as_u64().expect("a number")));
            }
            fields.values().for_each(|it| collect(it, waits));
        }
        Value::Array(values) => values.iter().for_each(|it| collect(it, waits)),
        _ => {}
    }
}
