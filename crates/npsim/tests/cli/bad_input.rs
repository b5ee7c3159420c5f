use crate::harness::{Dir, LOOP, pcap};

/// Runs a source with a capture; nothing may be left but the inputs.
fn with_capture(capture: &[u8], phrases: &[&str]) {
    let dir = Dir::new().with("a.uc", LOOP).with("in.pcap", capture);
    dir.npsim("run a.uc --trace in.pcap --out out.pcap --stats out.json")
        .expect(1, phrases);
    assert_eq!(dir.files(), ["a.uc", "in.pcap"]);
}

#[test]
fn captures() {
    let good = pcap(1, &[(0, 60), (10, 60)]);
    with_capture(
        &good[..good.len() - 20],
        &["in.pcap", "is cut off", "1 whole frames"],
    );
    with_capture(&pcap(101, &[(0, 60)]), &["link type", "only Ethernet"]);
    with_capture(b"", &["it is empty"]);
    with_capture(b"hello", &["not a pcap or pcapng capture"]);
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("run a.uc --trace none.pcap")
        .expect(1, &["none.pcap", "No such file"]);
    let dir = Dir::new().with("a.uc", LOOP).with("in.pcap", good);
    dir.npsim("run a.uc --trace in.pcap --ports 3 --until 1us")
        .expect(1, &["only 3 ports"]);
}

/// Assembles a source that must be refused.
fn refused(source: &str, phrases: &[&str]) {
    let dir = Dir::new().with("a.uc", source);
    let done = dir.npsim("asm a.uc -o a.hex").expect(1, phrases);
    assert!(done.err.contains("--> a.uc:"), "no place in\n{}", done.err);
    assert!(done.err.contains("nothing was assembled"), "{}", done.err);
    dir.npsim("run a.uc --until 1us").expect(1, phrases);
    assert_eq!(dir.files(), ["a.uc"]);
}

#[test]
fn sources() {
    refused(
        "#include \"none.uc\"\n",
        &["error[include-failed]", "a.uc:1:10", "none.uc", "-I DIR"],
    );
    refused(
        "nop\nfoo[a, b]\n",
        &[
            "error[unknown-instruction]",
            "a.uc:2:1",
            "there is no instruction `foo`",
        ],
    );
    refused("alu[a0, a1, +, a2]\n", &["error[bank-conflict]", "a.uc:1:"]);
    refused(
        ".reg $x a\n.set a\nscratch[read, $x, a, 0, 1], sig_done[t]\n",
        &["error[undefined-signal]", "`t` is not declared", ".sig t"],
    );
}

#[test]
fn too_many_live_registers() {
    let names: Vec<_> = (0..40).map(|n| format!("r{n}")).collect();
    let each = |line: &str| {
        names
            .iter()
            .map(|name| line.replace('R', name) + "\n")
            .collect::<String>()
    };
    let source = format!(
        ".reg {} sum\n{}immed[sum, 0]\n{}local_csr_wr[active_lm_addr_0, sum]\nctx_arb[kill]\n",
        names.join(" "),
        each("immed[R, 1]"),
        each("alu[sum, sum, +, R]"),
    );
    refused(&source, &["register"]);
}

#[test]
fn messages_go_through_macros_and_files() {
    let dir = Dir::new()
        .with(
            "lib/ring.uc",
            "#macro put(value)\n    bogus[value]\n#endm\n",
        )
        .with("a.uc", "#include \"ring.uc\"\n    put(r0)\n");
    dir.npsim("asm a.uc -I lib").expect(
        1,
        &[
            "--> lib/ring.uc:2:5",
            "::: a.uc:2:",
            "in this expansion of `put`",
        ],
    );
}

#[test]
fn targets() {
    let dir = Dir::new()
        .with("a.bin", [0xff, 0xfe, 0x00])
        .with("empty/readme", "");
    dir.npsim("run none.uc --until 1us")
        .expect(1, &["cannot read `none.uc`"]);
    dir.npsim("run a.bin --until 1us")
        .expect(1, &["`a.bin` is not text"]);
    dir.npsim("run empty --until 1us")
        .expect(1, &["npsim.toml", "npsim new --from"]);
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("run a.uc --until 1us --stats no/out.json")
        .expect(1, &["cannot write `no/out.json`"]);
    dir.npsim("run a.uc --until 1us --out no/out.pcap")
        .expect(1, &["cannot write `no/out.pcap`"]);
    dir.npsim("asm a.uc -o a.elf")
        .expect(1, &["a.elf", ".hex", ".bin"]);
    dir.npsim("asm a.uc -o .").expect(1, &["in which form"]);
    assert_eq!(dir.files(), ["a.uc"]);
}
