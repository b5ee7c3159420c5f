//! `npsim fmt`: its output, the text that it leaves alone, and its messages.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::harness::{Dir, LOOP, root};

const UNFORMATTED: &str = "  here#:\nctx_arb[ voluntary ],br[here#]\n";

#[test]
fn shipped_sources_are_formatted() {
    let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .args(["fmt", "--check", "microcode"])
        .output()
        .expect("run npsim");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "run `npsim fmt microcode`:\n{told}"
    );
}

#[test]
fn files_are_formatted_in_place() {
    let dir = Dir::new()
        .with("a.uc", UNFORMATTED)
        .with("sub/b.UC", UNFORMATTED)
        .with("sub/c.h", UNFORMATTED)
        .with(".hidden/d.uc", UNFORMATTED)
        .with("whole.uc", LOOP);
    dir.npsim("fmt --check .").expect(
        1,
        &[
            "./a.uc:1: 2 lines",
            "./sub/b.UC:1: 2 lines",
            "2 files are",
            "npsim fmt",
        ],
    );
    assert_eq!(
        dir.read("a.uc"),
        UNFORMATTED.as_bytes(),
        "a check writes nothing"
    );
    dir.npsim("fmt .").expect(0, &[]);
    for name in ["a.uc", "sub/b.UC", "whole.uc"] {
        assert_eq!(dir.read(name), LOOP.as_bytes(), "{name}");
    }
    for name in ["sub/c.h", ".hidden/d.uc"] {
        assert_eq!(dir.read(name), UNFORMATTED.as_bytes(), "{name}");
    }
    dir.npsim("fmt --check .").expect(0, &[]);
    // A file given by name is formatted whatever its extension.
    dir.npsim("fmt sub/c.h").expect(0, &[]);
    assert_eq!(dir.read("sub/c.h"), LOOP.as_bytes());
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .args(["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("run npsim");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(UNFORMATTED.as_bytes()).expect("write");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), LOOP);
}

#[test]
fn format_errors_are_reported() {
    let dir = Dir::new().with("empty/readme.txt", "");
    dir.npsim("fmt none.uc")
        .expect(1, &["cannot read `none.uc`"]);
    let open = "alu[a0,a0\nnop\n";
    let dir = dir.with("open.uc", open).with("zz.uc", UNFORMATTED);
    dir.npsim("fmt .").expect(
        1,
        &["`./open.uc` is left as it is: line 1: `[` is not closed"],
    );
    assert_eq!(dir.read("open.uc"), open.as_bytes());
    assert_eq!(
        dir.read("zz.uc"),
        LOOP.as_bytes(),
        "the others are laid out"
    );
    dir.npsim("fmt empty")
        .expect(1, &["`empty` contains no microcode source"]);
    let dir = dir.with("notes.md", "a,b\n");
    dir.npsim("fmt notes.md").expect(
        1,
        &[
            "`notes.md` does not have the name of a microcode source",
            "npsim fmt -",
        ],
    );
    assert_eq!(dir.read("notes.md"), b"a,b\n");
    dir.npsim("fmt").expect(2, &["<FILE>"]);
}

#[test]
fn latin_1_encoding_is_preserved() {
    let dir = Dir::new().with("a.uc", b"ctx_arb[ kill]\n; caf\xe9\n");
    dir.npsim("check a.uc").expect(0, &[]);
    dir.npsim("fmt --check a.uc")
        .expect(1, &["a.uc:1: this line"]);
    dir.npsim("fmt a.uc").expect(0, &[]);
    assert_eq!(dir.read("a.uc"), b"    ctx_arb[kill]\n; caf\xe9\n");
    dir.npsim("fmt --check a.uc").expect(0, &[]);
}

#[test]
fn utf_16_encoding_is_preserved() {
    let wide = |text: &str| -> Vec<u8> {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let dir = Dir::new()
        .with(
            "a.uc",
            wide("#include \"b.h\"\r\nctx_arb[ kill]\r\n; \u{b5}\u{3a9}\r\n"),
        )
        .with("b.h", wide("; \u{3a9}\r\n"));
    dir.npsim("check a.uc").expect(0, &[]);
    dir.npsim("fmt a.uc").expect(0, &[]);
    let laid_out = "#include \"b.h\"\r\n    ctx_arb[kill]\r\n; \u{b5}\u{3a9}\r\n";
    assert_eq!(dir.read("a.uc"), wide(laid_out));
    dir.npsim("fmt --check a.uc").expect(0, &[]);
}

#[test]
fn malformed_source_is_not_rewritten() {
    let mistakes = [
        (
            "mov.uc",
            "nop\nalu a0,a1, +, 1\n",
            "line 2: the operands of `alu`",
        ),
        (
            "comment.uc",
            "nop\n#if 0\n/* x\n#endif\n",
            "line 3: this comment",
        ),
        ("stray.uc", "nop\n\nbr[a#] ]\na#:nop\n", "line 3: `]`"),
        (
            "mac.uc",
            "nop\rhere#:\rbr[here#]\r",
            "line 1: a carriage return",
        ),
        ("directive.uc", "if\n.els\nalu[a0,--,B,\n", "line 3: "),
    ];
    let dir = mistakes
        .iter()
        .fold(Dir::new(), |dir, (name, text, _)| dir.with(name, *text));
    for (name, text, message) in mistakes {
        dir.npsim(&format!("fmt {name}"))
            .expect(1, &[name, message]);
        assert_eq!(dir.read(name), text.as_bytes(), "{name}");
        dir.npsim(&format!("fmt --check {name}"))
            .expect(1, &[message]);
    }
    // Text that nothing uses can be anything.
    let others = "#macro old(a)\nalu a0,a1 ]\n#endm\n#if OLD\nmov a,1 )\n#endif\n#define X (1\nctx_arb[ kill]\n";
    let dir = dir.with("others.uc", others);
    dir.npsim("fmt others.uc").expect(0, &[]);
    let text = String::from_utf8(dir.read("others.uc")).expect("text");
    assert!(text.ends_with("    ctx_arb[kill]\n"), "{text}");
}

#[test]
fn lines_completed_by_defines_are_formatted() {
    // Options, operands, a whole bracket and an instruction come from defines in this file, in an
    // included one, in the project or on the command line.
    let text = "#include \"ops.h\"\n#define DONE , sig_done[s]\n#define THREE a, b\n\
                #define ALSO ] , ctx_swap[s\n.reg a b $x\n.sig s\n\
                alu[a,b,+,1] DONE\nalu[a, +, THREE\n  ]\nbr_bset [THREE , x#]\n\
                sram[read,$x,a,b,1] LATE ,defer[1]\nsram[read,$x, a,b,1 ALSO ]\n\
                alu [a , PAIR\n]\nx#: alu[OPS] THEN\nalu a b THREE\n";
    let dir = Dir::new().with("a.uc", text);
    dir.npsim("fmt a.uc").expect(0, &[]);
    let laid_out = String::from_utf8(dir.read("a.uc")).expect("text");
    for line in [
        "    alu[a, b, +, 1] DONE\n",
        "    br_bset[THREE, x#]\n",
        "    sram[read, $x, a, b, 1] LATE, defer[1]\n",
        "x#: alu[OPS] THEN\n",
    ] {
        assert!(laid_out.contains(line), "{line}\n{laid_out}");
    }
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(words(&laid_out), words(text));
    dir.npsim("fmt --check a.uc").expect(0, &[]);
    // Names that the file declares are not defines.
    let dir = dir.with("b.uc", ".reg a b\nalu[a, b, +, 1] b\n");
    dir.npsim("fmt b.uc").expect(1, &["line 2: "]);
}
