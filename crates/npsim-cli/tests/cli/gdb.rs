//! The program of the core under a real gdb, by scripts.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::harness::{Dir, root};

const GDB: &str = "gdb-multiarch";

/// A debugger that waits for gdb; ended with the test.
struct Served {
    child: Child,
    port: String,
}

impl Served {
    fn new(target: &str, options: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(root())
            .args(["debug", target, "--gdb", ":0"])
            .args(options.split_whitespace())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run npsim");
        let stderr = child.stderr.take().expect("its messages");
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let said = lines.find(|line| line.contains("listening at"));
        let said = said.expect("it listens");
        // What else is said is read, so that no pipe is full.
        std::thread::spawn(move || lines.for_each(drop));
        let port = said.rsplit(':').next().expect("a port").to_owned();
        Self { child, port }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What gdb says to a script; nothing where there is no gdb.
fn gdb(elf: &str, served: &Served, script: &str) -> Option<String> {
    let dir = Dir::new().with("script.gdb", script);
    let path: PathBuf = dir.path("script.gdb");
    let output = Command::new(GDB)
        .current_dir(root())
        .args(["-nx", "-batch", "-iex", "set pagination off", elf])
        .args(["-ex", &format!("target remote 127.0.0.1:{}", served.port)])
        .arg("-x")
        .arg(path)
        .output();
    let Ok(output) = output else {
        eprintln!("{GDB} is not installed");
        return None;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(text(&output.stdout) + &text(&output.stderr))
}

/// Parts in the order in which they come.
#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else {
            panic!("no `{part}` where it belongs in:\n{text}");
        };
        rest = behind;
    }
}

#[test]
fn gdb_goes_through_the_program_of_the_core_both_ways() {
    let served = Served::new(
        "microcode/forward/icmp-c.toml",
        "--set load.special.icmp=1 --to 10.1.0.1/32 --rate 60kpps --time 200us",
    );
    let script = "\
break icmp_take
continue
print packet->reason
next
bt 2
watch icmp_counts.echo_replies
continue
reverse-continue
delete 2
continue
finish
reverse-continue
reverse-stepi
stepi
info registers pc
x/2xw $sp
monitor where core
monitor rings
";
    let Some(said) = gdb("microcode/core/icmp.elf", &served, script) else {
        return;
    };
    expect(
        &said,
        &[
            "Breakpoint 1, icmp_take (packet=",
            "$1 = ",
            "#0  icmp_take",
            "#1 ",
            "in main",
            "Hardware watchpoint 2: icmp_counts.echo_replies",
            "Old value = 0",
            "New value = 1",
            "Old value = 1",
            "New value = 0",
            "Breakpoint 1, icmp_take (packet=",
            "Run till exit from",
            "Value returned is $",
            "Breakpoint 1, icmp_take (packet=",
            "pc ",
            "core icmp.elf running at 0x",
            "scratch ring",
        ],
    );
}

#[test]
fn gdb_steps_through_a_little_endian_program_from_the_beginning() {
    let project = "name = \"little\"\n[chip]\nprofile = \"ixp2400\"\n[[me]]\nid = 0\nsource = \"a.uc\"\n[gpp]\nprogram = \"hello.elf\"\n";
    let elf = root().join("crates/xscale/tests/programs/hello-little.elf");
    let dir = Dir::new()
        .with("npsim.toml", project)
        .with("a.uc", "ctx_arb[kill]\n")
        .with("hello.elf", std::fs::read(elf).expect("the program"));
    let target = dir.path("npsim.toml");
    let target = target.to_str().expect("a path");
    let served = Served::new(target, "--time 1ms");
    let elf = dir.path("hello.elf");
    let script = "stepi\nstepi\nstepi\nreverse-stepi\ninfo registers pc\nbreak main\ncontinue\nreverse-continue\nreverse-continue\n";
    let Some(said) = gdb(elf.to_str().expect("a path"), &served, script) else {
        return;
    };
    expect(
        &said,
        &[
            "pc ",
            "Breakpoint 1, main",
            "No more reverse-execution history",
        ],
    );
}

#[test]
fn gdb_is_refused_where_the_core_has_no_program() {
    let dir = Dir::new();
    let wire = root().join("microcode/tutorial/wire8.uc");
    let lib = root().join("microcode/lib");
    let line = format!(
        "debug {} -I {} --load 0.5 --gdb :0",
        wire.display(),
        lib.display()
    );
    dir.npsim(&line)
        .expect(1, &["the core runs no program", "[gpp]"]);
}
