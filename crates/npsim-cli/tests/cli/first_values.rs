//! `.init` of memory that the project names.

use crate::harness::Dir;

const PROJECT: &str = "\
[[me]]\nid = \"0-1\"\nsource = \"a.uc\"\nimport = { LATE = 0x40 }\n
[[memory]]\nname = \"TABLE\"\nspace = \"sram0\"\naddress = 0x100\nwords = [9, 9, 9, 9, 9]\n
[[memory]]\nname = \"PAIR\"\nspace = \"scratch\"\naddress = 0x100\nsize = 8\n
[[memory]]\nname = \"WIDE\"\nspace = \"dram\"\naddress = 0x100\nsize = 16\n";

/// The longwords of a memory after a run of `a.uc`.
fn memory_after_run(dir: &Dir, name: &str) -> Vec<String> {
    dir.npsim(&format!("run . --until 1us -q --dump {name}=dump"))
        .expect(0, &[]);
    let text = String::from_utf8(dir.read("dump")).expect("text");
    let values = |line: &str| {
        line.split_whitespace()
            .skip(1)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    text.lines().flat_map(values).collect()
}

#[test]
fn memory_starts_with_init_values() {
    let source = "\
.import_var LATE
#define STEP 4
#define AT TABLE
#macro first(place, value)
.init place/**/E+(2 * STEP) ((value << 8) | LATE)
#endm
.sig done
.init TABLE 1
.init AT+STEP (2 + &done - &done)
first(TABL, 3)
.init TABLE+4+8 -1
.init PAIR+4 (last# + 0x70)
.init WIDE+(3*4) (LATE >> 4) | 1
.init WIDE+8-4 LATE
    nop
last#:
    br[last#]
";
    let dir = Dir::new().with("npsim.toml", PROJECT).with("a.uc", source);
    let table = [
        "0x00000001",
        "0x00000002",
        "0x00000340",
        "0xffffffff",
        "0x00000009",
    ];
    assert_eq!(memory_after_run(&dir, "TABLE"), table);
    assert_eq!(memory_after_run(&dir, "PAIR"), ["0x00000000", "0x00000071"]);
    assert_eq!(
        memory_after_run(&dir, "WIDE")[..],
        ["0x00000000", "0x00000040", "0x00000000", "0x00000005"]
    );
    // The image also contains them.
    dir.npsim("asm . --me 0 -o a.npi").expect(0, &[]);
    let image = String::from_utf8(dir.read("a.npi")).expect("text");
    assert!(image.contains("memory sram 0x108 0x340\n"), "{image}");
    assert!(image.contains("memory scratch 0x104 0x71\n"), "{image}");
    let listing = dir.npsim("asm a.npi --listing").expect(0, &[]).out;
    assert!(listing.contains(".init dram 0x104 0x40"), "{listing}");
    let of_image = PROJECT.replace("a.uc", "a.npi");
    let dir = dir.with("npsim.toml", of_image);
    assert_eq!(memory_after_run(&dir, "TABLE"), table);
}

#[test]
fn invalid_init_values_are_located_with_a_remedy() {
    let end = "here#: br[here#]\n";
    for (line, told) in [
        (
            ".init TABLE+20 1",
            &["no longword at byte 20", "from 0 to 16", "a.uc:1:"][..],
        ),
        (".init TABLE+2 1", &["no longword at byte 2"]),
        (".init TABLE-4 1", &["no longword at byte -4"]),
        (".init TABLE+8", &["no value", "TABLE+8 value"]),
        (".init TABLE+(4 1", &["a.uc:1:"]),
        (".init TABLE+ 1", &["no longword at byte 1"]),
        (".init TABLE", &["no value"]),
        (".init TABLE 0x100000000", &["a.uc:1:"]),
        (".init TABLE OPEN", &["`OPEN`"]),
        (".init_ctx 1 TABLE 1", &["all contexts share"]),
        (".init OTHER+8 1", &["`OTHER`", "[[memory]]"]),
    ] {
        let source = format!("{line}\n{end}");
        let dir = Dir::new().with("npsim.toml", PROJECT).with("a.uc", source);
        dir.npsim("check .").expect(1, told);
    }
}
