//! `npsim explain` on sources that cause every remark.

use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::root;

fn npsim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .arg("explain")
        .args(arguments)
        .output()
        .unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = npsim(arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The words of a source's line, as JSON.
fn words(source: &str, line: u32) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("test.uc");
    std::fs::write(&file, source).unwrap();
    let place = format!("{}:{line}", file.display());
    let found: Value = serde_json::from_str(&text(&[&place, "--format", "json"])).unwrap();
    assert_eq!(found["schema"], "npsim-explain-1");
    assert_eq!(found["line"], line);
    found["programs"][0]["words"].as_array().unwrap().clone()
}

fn warnings(word: &Value) -> String {
    let list = word["beware"].as_array().unwrap().iter();
    let list: Vec<_> = list.map(|line| line.as_str().unwrap()).collect();
    list.join("\n")
}

#[test]
fn explained_fields_match_the_bits_of_the_word() {
    let words = words(".reg a b\nalu[a, b, +, 1]\n", 2);
    assert_eq!(words.len(), 1);
    let word = u64::from_str_radix(words[0]["word"].as_str().unwrap(), 16).unwrap();
    let instruction = npsim_isa::decode(word).unwrap();
    assert_eq!(words[0]["instruction"], instruction.to_string());
    for field in words[0]["fields"].as_array().unwrap() {
        let bits = field["bits"].as_str().unwrap();
        let (high, low) = bits.split_once("..").unwrap_or((bits, bits));
        let (high, low): (u32, u32) = (high.parse().unwrap(), low.parse().unwrap());
        let value = word >> low & ((1 << (high - low + 1)) - 1);
        assert_eq!(field["value"], value, "{field}");
    }
    assert_eq!(words[0]["cost"]["sets_codes"], true);
    assert_eq!(words[0]["cost"]["cycles"], 1);
}

#[test]
fn branches_show_penalty_and_defer_slots() {
    let source = "\
again#:
nop
br[again#]
br[again#], defer[1]
nop
br[again#], defer[1]
immed[x, 1]
";
    let source = format!(".reg x\n{source}");
    let cost = |line| words(&source, line)[0]["cost"].clone();
    let plain = cost(4);
    let penalty = plain["penalty"].as_u64().unwrap();
    assert!(penalty > 0 && plain["aborted"] == penalty && plain["defer"] == 0);
    let wasted = cost(5);
    assert_eq!((&wasted["defer"], &wasted["nops"]), (&1.into(), &1.into()));
    assert_eq!(wasted["aborted"], penalty - 1);
    let filled = cost(7);
    assert_eq!((&filled["defer"], &filled["nops"]), (&1.into(), &0.into()));
    let slot = words(&source, 8);
    let said = slot[0]["cost"]["text"].as_str().unwrap();
    assert!(said.contains("defer slot 1 of the branch"), "{said}");
}

#[test]
fn early_pointer_use_is_reported_at_write_and_use() {
    let source = "\
.reg x
local_csr_wr[ACTIVE_LM_ADDR_0, x]
nop
alu[x, --, B, *l$index0[1]]
";
    let write = words(source, 2);
    assert!(
        warnings(&write[0]).contains("fourth instruction after"),
        "{}",
        warnings(&write[0])
    );
    assert!(warnings(&write[0]).contains("still uses the old value"));
    let used = words(source, 4);
    assert!(
        warnings(&used[0]).contains("3 instructions are needed between, not 1"),
        "{}",
        warnings(&used[0])
    );
    let late = source.replace("nop\n", "nop\nnop\nnop\n");
    assert_eq!(warnings(&words(&late, 6)[0]), "");
}

#[test]
fn condition_codes_do_not_survive_a_context_swap() {
    let source = "\
.reg x
.sig s
.reg read $v
immed[x, 0]
alu[--, x, -, 1]
scratch[read, $v, x, 0, 1], ctx_swap[s]
beq[end#]
end#:
nop
";
    assert!(warnings(&words(source, 7)[0]).contains("those of other contexts"));
    let straight = source.replace("scratch[read, $v, x, 0, 1], ctx_swap[s]", "nop");
    assert!(warnings(&words(&straight, 7)[0]).contains("are those of `alu["));
}

#[test]
fn commands_show_unit_latency_registers_and_signals() {
    let source = "\
.reg x
.reg read $v0 $v1
.xfer_order $v0 $v1
.sig done
immed[x, 64]
sram[read, $v0, x, 0, 2], ctx_swap[done]
alu[x, --, B, $v0]
alu[x, x, +, $v1]
";
    let words = words(source, 6);
    let command = &words[0]["command"];
    assert_eq!(
        (command["unit"].as_str(), command["name"].as_str()),
        (Some("sram"), Some("read"))
    );
    assert_eq!(
        (command["pulled"].as_u64(), command["pushed"].as_u64()),
        (Some(0), Some(2))
    );
    let profile = npsim_profile::Profile::load("ixp2400").unwrap();
    assert_eq!(command["idle_cycles"], profile.sram_read());
    let registers = words[0]["registers"].to_string();
    for name in ["$v0", "$v1", "\"x\""] {
        assert!(registers.contains(name), "{name} in {registers}");
    }
    assert!(words[0]["signals"].to_string().contains("done"));
    assert!(warnings(&words[0]).contains("have no value until the context wakes"));
    assert_eq!(words[0]["cost"]["swaps"], true);
}

#[test]
fn use_of_the_previous_alu_result_is_reported() {
    let source = "\
.reg x y
.reg write $d
.sig s
alu[$d, --, B, x]
alu[--, x, OR, y]
scratch[write, $d, x, 0, max_1], indirect_ref, sig_done[s]
ctx_arb[s]
local_csr_rd[CTX_ENABLES]
immed[x, 0]
";
    let said = warnings(&words(source, 6)[0]);
    assert!(
        said.contains("indirect_ref takes the ALU result of the instruction before it, `alu["),
        "{said}"
    );
    let said = warnings(&words(source, 8)[0]);
    assert!(
        said.contains("arrives in the next instruction, `immed["),
        "{said}"
    );
}

#[test]
fn macro_line_selects_all_uses_and_use_selects_all_words() {
    let uses = text(&[
        "microcode/lib/turn.uc:21",
        "--project",
        "microcode/forward",
        "--format",
        "json",
    ]);
    let uses: Value = serde_json::from_str(&uses).unwrap();
    let sources: Vec<_> = uses["programs"].as_array().unwrap().iter().collect();
    assert_eq!(sources.len(), 2, "both programs use it");
    let words = sources[0]["words"].as_array().unwrap();
    assert!(words.len() > 4);
    for word in words {
        let way = word["way"].as_array().unwrap();
        assert!(way.len() >= 2);
        assert_eq!(way[0]["used"], "turn_pass");
        assert!(way[0]["file"].as_str().unwrap().ends_with("forward.uc"));
        assert!(way.last().unwrap()["used"].is_null());
        assert_eq!(way.last().unwrap()["line"], 21);
    }
}

#[test]
fn whole_file_lists_every_word_once() {
    let listing = text(&[
        "microcode/forward/transmit.uc",
        "--project",
        "microcode/forward",
    ]);
    let assembled = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(["asm", "microcode/forward", "--me", "1", "--words"])
        .output()
        .unwrap();
    let words = String::from_utf8(assembled.stdout).unwrap().to_uppercase();
    let words: Vec<_> = words
        .lines()
        .filter(|line| !line.starts_with(';'))
        .collect();
    let listed: Vec<_> = listing
        .lines()
        .filter_map(|line| {
            line.trim_start()
                .strip_prefix('.')?
                .split_whitespace()
                .nth(1)
        })
        .collect();
    assert_eq!(listed, words);
}

#[test]
fn explained_latency_comes_from_the_chip_profile() {
    let place = "microcode/forward/forward.uc:206";
    let profile = npsim_profile::Profile::load("ixp2400").unwrap();
    let said = text(&[place, "--project", "microcode/forward"]);
    let wanted = format!("{} cycles on an idle ixp2400", profile.dram_read());
    assert!(said.contains(&wanted), "{said}");
}

#[test]
fn unexplainable_lines_are_refused_with_a_remedy() {
    let said = |arguments: &[&str]| {
        let output = npsim(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let project = ["--project", "microcode/forward"];
    let with = |place: &'static str| [place, project[0], project[1]];
    let text = said(&with("microcode/forward/forward.uc:1"));
    assert!(
        text.contains("produces no word") && text.contains("the nearest that does"),
        "{text}"
    );
    let text = said(&with("microcode/tutorial/wire.uc"));
    assert!(text.contains("no line of"), "{text}");
    let text = said(&["microcode/none.uc:3"]);
    assert!(text.contains("cannot read"), "{text}");
    let text = said(&["microcode/tutorial/wire.uc:0", "-I", "microcode/lib"]);
    assert!(text.contains("lines count from 1"), "{text}");
}

#[test]
fn register_is_named_by_instruction_address() {
    // One register is `x` when the last word reads it and `y` when it is written.
    let source = "\
.reg x y
immed[x, 1]
alu[y, x, +, 1]
local_csr_wr[0x10, y]
ctx_arb[kill]
";
    let registers = |line: u32| words(source, line)[0]["registers"].clone();
    let name = |line: u32| registers(line)[0]["names"].clone();
    assert_eq!(name(2), serde_json::json!(["x"]));
    assert_eq!(name(4), serde_json::json!(["y"]));
    let both = registers(3);
    assert_eq!(both[0]["allocated"], both[1]["allocated"]);
    assert_eq!(
        (&both[0]["names"][0], &both[0]["access"]),
        (&"y".into(), &"written".into())
    );
    assert_eq!(
        (&both[1]["names"][0], &both[1]["access"]),
        (&"x".into(), &"read".into())
    );
    assert_eq!(registers(4)[0].get("access"), None);
}
