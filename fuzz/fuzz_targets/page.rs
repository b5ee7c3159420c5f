//! Requests of the page in a browser, one per line, with an open system. Every answer has a valid
//! form, and every request ends.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use npsim_web::{Answer, Playground};
use serde_json::Value;

/// The maximum cycles of a request: more would only take longer.
const MAX_CYCLES: u64 = 5000;

/// Sources of the system.
fn sources() -> &'static [(String, Vec<u8>)] {
    static SOURCES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    SOURCES.get_or_init(|| {
        let microcode = Path::new(env!("CARGO_MANIFEST_DIR")).join("../microcode");
        let mut found = Vec::new();
        for folder in ["lib", "tutorial"] {
            for entry in std::fs::read_dir(microcode.join(folder)).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|it| it == "uc") {
                    let name = path.file_name().expect("a name").to_string_lossy();
                    let bytes = std::fs::read(&path).expect("a file");
                    found.push((format!("/microcode/{folder}/{name}"), bytes));
                }
            }
        }
        found
    })
}

/// The request with limited cycles and memory, to bound its time.
fn bounded(line: &[u8]) -> Vec<u8> {
    let Ok(mut request) = serde_json::from_slice::<Value>(line) else {
        return line.to_vec();
    };
    let op = request["op"].as_str().map(str::to_owned);
    if let Some(fields) = request.as_object_mut() {
        match op.as_deref() {
            Some("open" | "exercise") => {
                fields.insert("until".to_owned(), "10us".into());
                fields.insert("memory".to_owned(), 32.into());
            }
            Some(_) => {
                let cycles = fields.get("cycles").and_then(Value::as_u64);
                let cycles = cycles.unwrap_or(MAX_CYCLES).min(MAX_CYCLES);
                fields.insert("cycles".to_owned(), cycles.into());
            }
            None => {}
        }
    }
    request.to_string().into_bytes()
}

fuzz_target!(|input: &[u8]| {
    let mut page = Playground::default();
    for (path, bytes) in sources() {
        let _ = page.put(path, bytes.clone());
    }
    let open = br#"{"op":"open","target":"/microcode/tutorial/wire8.uc","until":"10us","memory":32}"#;
    let Answer::Json(_) = page.ask(open) else {
        panic!("it does not open");
    };
    for line in input.split(|&byte| byte == b'\n') {
        let _ = page.ask(&bounded(line));
    }
});
