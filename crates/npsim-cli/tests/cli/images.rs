use crate::harness::{Dir, LOOP};

const SOURCE: &str = "\
.reg count
    immed[count, 5]
again#:
    alu[count, count, -, 1]
    bne[again#]
    ctx_arb[kill]
";

#[test]
fn disassembled_words_reassemble_identically() {
    let dir = Dir::new().with("a.uc", SOURCE);
    dir.npsim("asm a.uc -o a.hex")
        .expect(0, &["4 of 4096 words"]);
    dir.npsim("asm a.uc -o a.bin").expect(0, &[]);
    let hex = String::from_utf8(dir.read("a.hex")).expect("text");
    assert_eq!((hex.lines().count(), dir.read("a.bin").len()), (4, 20));
    let from_hex = dir.npsim("disasm a.hex").expect(0, &["ctx_arb[kill]"]).out;
    let from_bin = dir.npsim("disasm a.bin").expect(0, &[]).out;
    assert_eq!(from_hex, from_bin);
    let dir = dir.with("b.uc", from_hex);
    dir.npsim("asm b.uc -o b.hex").expect(0, &[]);
    assert_eq!(String::from_utf8(dir.read("b.hex")).expect("text"), hex);
}

#[test]
fn branch_outside_the_program_round_trips() {
    let words = "d805c00018\nd800400018\ne000010000\n";
    let dir = Dir::new().with("a.txt", words);
    let text = dir
        .npsim("disasm a.txt")
        .expect(0, &[".word 0xd805c00018 ; br[L23]", "br[L1]"])
        .out;
    let dir = dir.with("b.uc", text);
    dir.npsim("asm b.uc -o b.hex").expect(0, &[]);
    assert_eq!(dir.read("b.hex"), words.as_bytes());
}

#[test]
fn listing_and_words_are_printed() {
    let dir = Dir::new().with("a.uc", SOURCE);
    dir.npsim("asm a.uc --list")
        .expect(0, &["; me 0: a.uc", "ctx_arb[kill]"]);
    let words = dir
        .npsim("asm a.uc --words")
        .expect(0, &["; me 0: a.uc"])
        .out;
    let dir = dir.with("words.txt", words);
    dir.npsim("disasm words.txt")
        .expect(0, &["; me 0: a.uc", "immed["]);
}

#[test]
fn programs_of_a_project_are_selected_by_microengine() {
    let project = "[[me]]\nid = \"0-1\"\nsource = \"a.uc\"\n[[me]]\nid = 4\nsource = \"b.uc\"\n";
    let dir = Dir::new()
        .with("npsim.toml", project)
        .with("a.uc", SOURCE)
        .with("b.uc", LOOP);
    let words = dir
        .npsim("asm . --words")
        .expect(0, &["; me 0-1: a.uc", "; me 4: b.uc"])
        .out;
    let dir = dir.with("words.txt", words);
    dir.npsim("disasm words.txt")
        .expect(0, &["; me 4: b.uc", "br[L0]", "2 programs", "--me ID"]);
    let one = dir.npsim("disasm words.txt --me 4").expect(0, &["br[L0]"]);
    assert!(!one.out.contains("immed[") && one.err.is_empty());
    dir.npsim("disasm words.txt --me 3")
        .expect(1, &["no program for microengine 3"]);
    let short = dir.with("short.txt", "d805c000\n");
    short
        .npsim("disasm short.txt")
        .expect(1, &["line 1: `d805c000`", "ten hexadecimal digits"]);
    let dir = short;
    dir.npsim("asm . -o x.hex")
        .expect(1, &["one program", "--me ID"]);
    dir.npsim("asm . --me 4 -o x.hex")
        .expect(0, &["1 of 4096 words"]);
    dir.npsim("asm . --me 5")
        .expect(1, &["no source runs on microengine 5"]);
}

#[test]
fn compressed_words_are_refused() {
    // After the gzip header comes a multiple of five bytes, which would be words in binary.
    let dir = Dir::new()
        .with("a.bin.gz", [&[0x1f, 0x8b, 8, 0][..], &[0; 16]].concat())
        .with("b.bin", [&[0x1f, 0x8b, 8, 0][..], &[0; 16]].concat());
    dir.npsim("disasm a.bin.gz")
        .expect(1, &["`a.bin.gz` is compressed", "gzip -d"]);
    dir.npsim("disasm b.bin").expect(0, &[]);
}

#[test]
fn invalid_word_files_are_refused() {
    let dir = Dir::new()
        .with("a.hex", "; me 0: x\nF0000C0300\nzz\n")
        .with("a.bin", [0xf0, 0, 0x0c, 3]);
    dir.npsim("disasm a.hex")
        .expect(1, &["a.hex: line 3", "ten hexadecimal digits"]);
    dir.npsim("disasm a.bin")
        .expect(1, &["a.bin: offset 0", "five bytes"]);
    let prose = "Lies mich \u{2192} zuerst.\n".repeat(500);
    let dir = dir.with("README.md", prose).with("a.uc", SOURCE);
    let done = dir.npsim("disasm README.md");
    let done = done.expect(1, &["README.md: line 1", "is not a word"]);
    assert!(done.out.is_empty() && done.err.lines().count() < 6);
    dir.npsim("disasm a.uc")
        .expect(1, &["this is a source", "npsim asm a.uc --listing"]);
    dir.npsim("disasm none.hex")
        .expect(1, &["cannot read `none.hex`"]);
}

#[test]
fn pp_prints_expanded_text() {
    let dir = Dir::new().with(
        "a.uc",
        "#define N 3\n#macro two(x)\n    immed[x, N]\n    immed[x, N]\n#endm\n    two(a0)\n",
    );
    let text = dir.npsim("pp a.uc").expect(0, &[]).out;
    assert_eq!(text.matches("immed").count(), 2, "{text}");
    assert!(!text.contains("two("), "{text}");
    let dir = Dir::new().with("a.uc", "#if 1\n");
    dir.npsim("pp a.uc")
        .expect(1, &["unterminated-conditional"]);
}

#[test]
fn debugger_shows_only_sources_stored_in_the_image() {
    let dir = Dir::new()
        .with("a.uc", SOURCE)
        .with("list.txt", "list\nwhere\n");
    dir.npsim("asm a.uc -o a.npi").expect(0, &[]);
    dir.npsim("debug a.npi --batch --script list.txt")
        .expect(0, &["immed[count, 5]"]);
    let image = String::from_utf8(dir.read("a.npi")).expect("text");
    let away = Dir::new().with("notes.txt", "a secret\n".repeat(9));
    let secret = away.path("notes.txt").display().to_string();
    for (name, phrase) in [(secret.as_str(), "a secret"), ("/dev/zero", "\0")] {
        let image = image.replace("file \"a.uc\"", &format!("file {name:?}"));
        assert!(image.contains(name), "{image}");
        let dir = Dir::new()
            .with("b.npi", image)
            .with("where.txt", "where\nstep\n");
        let done = dir.npsim("debug b.npi --batch --script where.txt");
        let done = done.expect(0, &[name]);
        assert!(!done.out.contains(phrase), "{}", done.out);
    }
}
