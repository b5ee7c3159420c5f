use crate::harness::{Dir, LOOP, pcap};

/// Runs a source with a capture; only the input files may be left.
fn with_capture(capture: &[u8], phrases: &[&str]) {
    let dir = Dir::new().with("a.uc", LOOP).with("in.pcap", capture);
    dir.npsim("run a.uc --trace in.pcap --out out.pcap --stats out.json")
        .expect(1, phrases);
    assert_eq!(dir.files(), ["a.uc", "in.pcap"]);
}

#[test]
fn bad_captures_are_refused() {
    let good = pcap(1, &[(0, 60), (10, 60)]);
    with_capture(
        &good[..good.len() - 20],
        &["in.pcap", "is cut off", "1 whole frames"],
    );
    with_capture(
        &pcap(101, &[(0, 60)]),
        &["link type", "only Ethernet", "`--link` frames"],
    );
    with_capture(b"", &["it is empty"]);
    with_capture(b"hello", &["not a pcap or pcapng capture"]);
    let dir = Dir::new().with("a.uc", LOOP);
    dir.npsim("run a.uc --trace none.pcap")
        .expect(1, &["none.pcap", "No such file"]);
    let dir = Dir::new().with("a.uc", LOOP).with("in.pcap", good);
    dir.npsim("run a.uc --trace in.pcap --ports 3 --until 1us")
        .expect(1, &["only 3 ports", "--ports"]);
    let dir = dir.with("raw.pcap", pcap(101, &[(0, 60)]));
    dir.npsim("run a.uc --trace raw.pcap --link --until 1us")
        .expect(0, &["1 more were left out"]);
    dir.npsim("trace info raw.pcap --link")
        .expect(0, &["raw.pcap: pcap"]);
    dir.npsim("trace order raw.pcap")
        .expect(1, &["only Ethernet"]);
    dir.npsim("trace order raw.pcap --link")
        .expect(1, &["raw.pcap"]);
}

/// Assembles a source that must be rejected.
fn refused(source: &str, phrases: &[&str]) {
    let dir = Dir::new().with("a.uc", source);
    let done = dir.npsim("asm a.uc -o a.hex").expect(1, phrases);
    assert!(done.err.contains("--> a.uc:"), "no place in\n{}", done.err);
    assert!(done.err.contains("nothing was assembled"), "{}", done.err);
    dir.npsim("run a.uc --until 1us").expect(1, phrases);
    assert_eq!(dir.files(), ["a.uc"]);
}

#[test]
fn bad_sources_are_refused() {
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
fn missing_include_suppresses_other_errors() {
    let dir = Dir::new()
        .with(
            "first/a.uc",
            "#include \"ring.uc\"\nput(r0, r1)\nimmed[x, SIZE]\n",
        )
        .with("lib/ring.uc", "");
    let done = dir.npsim("asm first/a.uc").expect(
        1,
        &["error[include-failed]", "add `-I lib`", "1 error; nothing"],
    );
    assert!(!done.err.contains("unknown-instruction"), "{}", done.err);
    let dir = Dir::new().with("a.uc", "put(r0, r1)\n");
    dir.npsim("asm a.uc")
        .expect(1, &["there is no macro `put`"]);
}

#[test]
fn source_without_instructions_is_refused() {
    let dir = Dir::new().with("a.uc", "; nothing\n");
    dir.npsim("asm a.uc")
        .expect(1, &["error[empty-program]", "`a.uc` has no instruction"]);
    dir.npsim("run a.uc").expect(1, &["error[empty-program]"]);
}

#[test]
fn too_many_live_registers_are_refused() {
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
fn errors_trace_macro_expansions_and_includes() {
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
fn bad_targets_are_refused() {
    let dir = Dir::new()
        .with("a.dat", [0xff, 0xfe, 0x00])
        .with("empty/readme", "")
        .with("lab/b.uc", LOOP)
        .with("lab/a.uc", LOOP);
    dir.npsim("run lab")
        .expect(1, &["npsim.toml", "sources `lab/a.uc`, `lab/b.uc`;"]);
    let dir = dir
        .with("lab/lock.toml", "extends = \"base.part.toml\"\n")
        .with("lab/base.part.toml", "[[me]]\nid = 0\nsource = \"a.uc\"\n")
        .with("lab/atomic.toml", "[[me]]\nid = 0\nsource = \"a.uc\"\n")
        .with("lab/study.toml", "name = \"s\"\n");
    let done = dir.npsim("run lab").expect(
        1,
        &["project files `lab/atomic.toml`, `lab/lock.toml`; give one of them"],
    );
    assert!(!done.err.contains("npsim new"), "{}", done.err);
    dir.npsim("run none.uc --until 1us")
        .expect(1, &["cannot read `none.uc`"]);
    dir.npsim("run a.dat --until 1us")
        .expect(1, &["`a.dat` is not text"]);
    dir.npsim("run empty --until 1us")
        .expect(1, &["npsim.toml", "npsim new --from"]);
}

#[test]
fn unwritable_outputs_are_refused() {
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

/// Firmware that ends at once.
const END: &str = "    ctx_arb[kill]\n";

#[test]
fn outputs_do_not_overwrite_inputs() {
    let capture = pcap(1, &[(0, 60), (10, 60)]);
    let dir = Dir::new()
        .with("a.uc", "#include \"b.uc\"\n")
        .with("b.uc", END)
        .with(
            "npsim.toml",
            "[[me]]\nid = 0\nsource = \"a.uc\"\n[[port]]\n",
        )
        .with("in.pcap", &capture);
    for (outputs, phrases) in [
        ("--out in.pcap", ["--out `in.pcap`", "the capture"]),
        ("--stats ./in.pcap", ["--stats `./in.pcap`", "the capture"]),
        ("--out a.uc", ["--out `a.uc`", "a source"]),
        ("--stats b.uc", ["--stats `b.uc`", "a source"]),
        ("--stats npsim.toml", ["`npsim.toml`", "the project file"]),
        ("--out x --stats ./x", ["both write `x`", "another name"]),
    ] {
        dir.npsim(&format!("run . --trace in.pcap {outputs}"))
            .expect(1, &phrases);
    }
    assert_eq!(dir.files(), ["a.uc", "b.uc", "in.pcap", "npsim.toml"]);
    assert_eq!(dir.read("in.pcap"), capture);
    assert_eq!(dir.read("b.uc"), END.as_bytes());
    dir.npsim("run . --trace in.pcap --out /dev/null --stats /dev/null")
        .expect(0, &[]);
}

#[cfg(unix)]
#[test]
fn generated_traffic_does_not_overwrite_its_project() {
    let project = "[[me]]\nid = 0\nsource = \"a.uc\"\n[[port]]\n";
    let dir = Dir::new().with("a.uc", END).with("npsim.toml", project);
    std::os::unix::fs::symlink("npsim.toml", dir.path("link")).expect("a link");
    dir.npsim("trace gen --project . --load 0.5 --time 1us --out link")
        .expect(1, &["--out `link` would overwrite the project file"]);
    assert_eq!(dir.read("npsim.toml"), project.as_bytes());
}

#[test]
fn endless_input_is_refused() {
    let dir = Dir::new().with("a.uc", "#include \"/dev/zero\"\n");
    dir.npsim("asm a.uc").expect(1, &["/dev/zero", "64 MiB"]);
    dir.npsim("run /dev/zero --until 1us")
        .expect(1, &["64 MiB"]);
    dir.npsim("disasm /dev/zero").expect(1, &["64 MiB"]);
    let dir = dir.with("b.uc", END);
    dir.npsim("run b.uc --trace /dev/zero")
        .expect(1, &["not a pcap or pcapng capture"]);
}

#[test]
fn error_count_is_limited() {
    let dir = Dir::new().with("a.uc", "frob[a0]\n".repeat(20_000));
    let done = dir.npsim("asm a.uc").expect(
        1,
        &["and 19901 more", "20001 errors; nothing was assembled"],
    );
    assert_eq!(done.err.matches("--> a.uc:").count(), 100);
}

#[test]
fn jump_out_of_the_program_is_a_fault() {
    let dir = Dir::new().with("a.uc", "    immed[a0, 4000]\n    rtn[a0]\n");
    dir.npsim("run a.uc --until 1us").expect(
        3,
        &["execution left the program", "addresses 0 to 1", "rtn"],
    );
}
