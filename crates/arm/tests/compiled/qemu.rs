//! Programs in qemu-arm.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::linux::Output;

/// Whether a command is available; prints a message if not.
pub fn available(command: &str) -> bool {
    let found = Command::new(command)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !found {
        eprintln!("skipped: no {command} (Debian: apt-get install qemu-user gcc-arm-none-eabi)");
    }
    found
}

pub fn run(emulator: &str, program: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(emulator)
        .args(["-cpu", "pxa255", "-0", arguments[0]])
        .arg(program)
        .args(&arguments[1..])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Output may fill its pipe before all input is read.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    Output {
        written: output.stdout,
        code: output.status.code().expect("an exit code") as u32,
    }
}
