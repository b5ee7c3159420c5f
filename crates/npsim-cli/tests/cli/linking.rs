//! Firmware that is assembled once and run later: image files, bare words,
//! import variables, copies against bank conflicts.

use crate::harness::{Dir, LOOP};

/// Four contexts, whose results depend on the import and on the initial value.
const IMPORTING: &str = "\
.num_contexts 4
.import_var TABLE
.reg count base sum
.init count 3
    immed[base, TABLE]
again#:
    alu[count, count, -, 1]
    bne[again#]
    alu[sum, base, +, count]
    local_csr_wr[ACTIVE_LM_ADDR_0, sum]
    ctx_arb[kill]
";

/// Three registers that are read in pairs.
const BANKS: &str = "\
.reg a b c x y z
    immed[a, 1]
    immed[b, 2]
    immed[c, 3]
    alu[x, a, +, b]
    alu[y, b, +, c]
    alu[z, c, +, a]
    alu[x, x, +, y]
    alu[x, x, +, z]
    local_csr_wr[ACTIVE_LM_ADDR_0, x]
    ctx_arb[kill]
";

const TWO_PROGRAMS: &str =
    "[[me]]\nid = \"0-1\"\nsource = \"a.uc\"\n[[me]]\nid = 4\nsource = \"b.uc\"\n";

#[test]
fn an_image_runs_like_its_source() {
    let dir = Dir::new().with("a.uc", IMPORTING);
    dir.npsim("asm a.uc -o a.npi")
        .expect(0, &["6 of 4096 words", "imports without a value: TABLE"]);
    for target in ["a.uc", "a.npi"] {
        dir.npsim(&format!("run {target} --until 1us")).expect(
            1,
            &[
                "import variables without a value: TABLE",
                "--import TABLE=VALUE",
            ],
        );
        let out = target.replace('.', "-");
        dir.npsim(&format!(
            "run {target} --until 1us -q --import TABLE=0x400 --stats {out}"
        ))
        .expect(0, &[]);
    }
    let stats = |name: &str| String::from_utf8(dir.read(name)).expect("text");
    assert_eq!(stats("a-uc"), stats("a-npi"));
    assert!(stats("a-uc").contains("\"ending\": \"quiet\""));
}

#[test]
fn linking_an_import_equals_assembling_its_value() {
    let dir = Dir::new()
        .with("a.uc", IMPORTING)
        .with("b.uc", IMPORTING.replace(", TABLE]", ", 0x400]"));
    dir.npsim("asm a.uc -o a.npi").expect(0, &[]);
    dir.npsim("asm a.npi --import TABLE=0x400 -o a.hex")
        .expect(0, &[]);
    dir.npsim("asm a.uc --import TABLE=1024 -o c.hex")
        .expect(0, &[]);
    dir.npsim("asm b.uc -o b.hex").expect(0, &[]);
    assert_eq!(dir.read("a.hex"), dir.read("b.hex"));
    assert_eq!(dir.read("c.hex"), dir.read("b.hex"));
    dir.npsim("asm a.npi --import TABLE=0x12345")
        .expect(1, &["word 0: 0x12345 of import `TABLE`"]);
    dir.npsim("asm a.uc --import TABLE=0x12345")
        .expect(1, &["error[import-value]"]);
    for bad in ["TABLE", "TABLE=", "TABLE=4294967296", "=1"] {
        dir.npsim(&format!("asm a.uc --import {bad}"))
            .expect(2, &["--import NAME=VALUE"]);
    }
}

#[test]
fn project_provides_import_values() {
    let project =
        |import: &str| format!("[[me]]\nid = 0\nsource = \"a.npi\"\nimport = {{ {import} }}\n");
    let dir = Dir::new().with("a.uc", IMPORTING);
    dir.npsim("asm a.uc -o a.npi").expect(0, &[]);
    let dir = dir.with("npsim.toml", project("TABLE = 0x400"));
    dir.npsim("run . --until 1us").expect(0, &[]);
    dir.npsim("asm . --list")
        .expect(0, &["TABLE at 0", "0x400"]);
    dir.npsim("asm . --list --import TABLE=0x500")
        .expect(0, &["0x500"]);
    let dir = dir.with("npsim.toml", project("TABLE = 4294967296"));
    dir.npsim("run . --until 1us")
        .expect(1, &["npsim.toml:4:", "does not fit 32 bits"]);
    let dir = dir.with("npsim.toml", project("OTHER = 1"));
    dir.npsim("run . --until 1us")
        .expect(1, &["without a value: TABLE"]);
}

#[test]
fn project_is_assembled_into_one_image() {
    let dir = Dir::new()
        .with("npsim.toml", TWO_PROGRAMS)
        .with("a.uc", IMPORTING.replace(", TABLE]", ", 5]"))
        .with("b.uc", LOOP);
    dir.npsim("asm . -o all.npi").expect(0, &[]);
    let text = String::from_utf8(dir.read("all.npi")).expect("text");
    assert!(
        text.starts_with("npsim-images 1\nmicroengines 0 1\nnpsim-image 3\n"),
        "{text}"
    );
    assert!(text.contains("\nmicroengines 4\n"), "{text}");
    dir.npsim("asm all.npi")
        .expect(0, &["microengine 0-1", "1 of 4096 words, microengine 4"]);
    dir.npsim("disasm all.npi")
        .expect(0, &["; me 0-1: a.uc", "; me 4: b.uc"]);
    dir.npsim("run all.npi --explain").expect(0, &["0,1,4"]);
    dir.npsim("run all.npi --until 1us --me 3")
        .expect(1, &["no program for microengine 3", "programs for 0, 1, 4"]);
    dir.npsim("asm all.npi -o again.npi").expect(0, &[]);
    assert_eq!(dir.read("again.npi"), dir.read("all.npi"));
    dir.npsim("asm all.npi --me 4 -o one.npi").expect(0, &[]);
    assert!(dir.read("one.npi").starts_with(b"npsim-image 3\n"));
    dir.npsim("run one.npi --me 7 --until 1us").expect(0, &[]);
}

#[test]
fn a_damaged_image_is_refused_with_its_line() {
    let dir = Dir::new()
        .with("npsim.toml", TWO_PROGRAMS)
        .with("a.uc", LOOP)
        .with("b.uc", LOOP);
    dir.npsim("asm . -o all.npi").expect(0, &[]);
    let text = String::from_utf8(dir.read("all.npi")).expect("text");
    let dir = dir.with(
        "twice.npi",
        text.replace("microengines 4", "microengines 1"),
    );
    dir.npsim("run twice.npi --until 1us")
        .expect(1, &["twice.npi: line ", "microengine 1 has two images"]);
    let dir = dir.with("short.npi", &text[..text.len() - 20]);
    for command in ["asm", "disasm", "run --until 1us"] {
        dir.npsim(&format!("{command} short.npi"))
            .expect(1, &["short.npi: line "]);
    }
    dir.npsim("pp all.npi").expect(1, &["assembled already"]);
    dir.npsim("asm all.npi -o all.npi")
        .expect(1, &["would overwrite"]);
    dir.npsim("asm a.uc -o a.uc").expect(
        1,
        &["--out writes firmware, and the ending of `a.uc` is for something else"],
    );
    dir.npsim("asm . -o x.hex")
        .expect(1, &["one program", "-o FILE.npi"]);
}

#[test]
fn bare_words_can_be_run() {
    let project = |keys: &str| format!("[[me]]\nid = 2\nsource = \"a.hex\"\n{keys}");
    let dir = Dir::new().with("a.uc", IMPORTING);
    dir.npsim("asm a.uc --import TABLE=1 -o a.hex --parity")
        .expect(0, &[]);
    dir.npsim("asm a.uc --import TABLE=1 -o a.bin")
        .expect(0, &[]);
    for target in ["a.hex", "a.bin"] {
        dir.npsim(&format!("asm {target}"))
            .expect(0, &["6 of 4096 words"]);
    }
    let dir = dir
        .with(
            "four/npsim.toml",
            project("contexts = 4\nnn_mode = \"self\"\n"),
        )
        .with(
            "four/a.hex",
            assembled_hex(&Dir::new().with("a.uc", IMPORTING)),
        );
    dir.npsim("asm four --list")
        .expect(0, &[".num_contexts 4", ".init_nn_mode self"]);
    dir.npsim("run four --until 1us --allow uninitialised-read")
        .expect(0, &[]);
    let dir = dir
        .with("six/npsim.toml", project("contexts = 6\n"))
        .with("six/a.hex", "");
    dir.npsim("asm six")
        .expect(1, &["6 contexts are not possible"]);
    let source = "[[me]]\nid = 2\nsource = \"../a.uc\"\ncontexts = 4\n";
    let dir = dir.with("source/npsim.toml", source);
    dir.npsim("asm source")
        .expect(1, &["only for bare words", ".num_contexts"]);
}

/// The words of the only source of a folder, as text.
fn assembled_hex(dir: &Dir) -> Vec<u8> {
    dir.npsim("asm a.uc --import TABLE=1 -o a.hex")
        .expect(0, &[]);
    dir.read("a.hex")
}

#[test]
fn parity_bits_are_written_and_checked() {
    let dir = Dir::new().with("a.uc", LOOP);
    let plain = dir.npsim("asm a.uc --words").expect(0, &[]).out;
    let with = dir.npsim("asm a.uc --words --parity").expect(0, &[]).out;
    let digits = |text: &str| text.lines().last().expect("a word").to_owned();
    assert_eq!((digits(&plain).len(), digits(&with).len()), (10, 11));
    assert_eq!(digits(&with)[1..], digits(&plain));
    dir.npsim("asm a.uc -o a.hex --parity").expect(0, &[]);
    dir.npsim("disasm a.hex").expect(0, &["br[L0]"]);
    let first = digits(&with).remove(0).to_digit(16).expect("a digit");
    let wrong = format!("{:x}{}\n", first ^ 1, digits(&plain));
    let dir = dir.with("wrong.hex", wrong);
    dir.npsim("run wrong.hex --until 1us")
        .expect(1, &["wrong.hex: line 1: the parity bits", "are wrong"]);
    dir.npsim("asm a.uc -o a.bin --parity")
        .expect(1, &["hexadecimal"]);
}

#[test]
fn spill_moves_resolve_bank_conflicts() {
    let dir = Dir::new().with("a.uc", BANKS);
    dir.npsim("asm a.uc").expect(1, &["error[bank-conflict]"]);
    dir.npsim("asm a.uc --spill-moves")
        .expect(0, &["note[", "11 of 4096 words"]);
    dir.npsim("run a.uc --spill-moves --until 1us")
        .expect(0, &["note["]);
    let project = "[[me]]\nid = 0\nsource = \"a.uc\"\nspill_moves = true\n";
    let dir = dir.with("npsim.toml", project);
    dir.npsim("check .").expect(0, &["note["]);
}

#[test]
fn warn_exempts_a_warning_from_deny_all() {
    let dir = Dir::new().with("a.uc", ".reg unused\nhere#: br[here#]\n");
    dir.npsim("asm a.uc --deny-warning all --warn unused-register")
        .expect(0, &["warning[unused-register]"]);
    dir.npsim("asm a.uc --warn unused-register --deny-warning unused-register")
        .expect(1, &["error[unused-register]"]);
}

#[test]
fn a_program_must_fit_the_control_store() {
    let dir = Dir::new()
        .with("full.uc", "nop\n".repeat(4095) + LOOP)
        .with("long.uc", "nop\n".repeat(4096) + LOOP);
    dir.npsim("asm full.uc -o full.hex")
        .expect(0, &["4096 of 4096 words"]);
    dir.npsim("run full.hex --until 1us").expect(0, &[]);
    dir.npsim("asm long.uc").expect(
        1,
        &[
            "program-too-long",
            "4097 words, the control store 4096",
            "long.uc:",
        ],
    );
    let mut words = dir.read("full.hex");
    words.extend(b"f0000c0300\n");
    let dir = dir.with("long.hex", words);
    for command in ["asm", "run --until 1us"] {
        dir.npsim(&format!("{command} long.hex")).expect(
            1,
            &["`long.hex` has 4097 words, the control store of ixp2400 4096"],
        );
    }
}

#[test]
fn list_file_has_the_expected_format() {
    let dir = Dir::new().with("a.uc", IMPORTING);
    dir.npsim("asm a.uc -o a.list").expect(0, &[]);
    let list = String::from_utf8(dir.read("a.list")).expect("text");
    let printed = dir.npsim("asm a.uc --list").expect(0, &[]).out;
    assert_eq!(format!("; me 0: a.uc\n{list}"), printed);
    let words: Vec<_> = dir
        .npsim("asm a.uc --words")
        .out
        .lines()
        .skip(1)
        .map(str::to_uppercase)
        .collect();
    for (address, word) in words.iter().enumerate() {
        let line = format!("\n.{address} {word}\n    ");
        assert!(list.contains(&line), "{line} in {list}");
    }
    assert!(list.contains("again#:\n.%line 7 \"a.uc\"\n.1 "), "{list}");
    assert!(
        list.contains(".num_contexts 4\n") && list.contains("\n.init "),
        "{list}"
    );
    assert!(list.trim_end().ends_with("+ucode_end"), "{list}");
    let known = |line: &str| line.starts_with(['.', ';', ' ']) || line.ends_with("#:");
    assert!(list.lines().all(known), "{list}");
}
