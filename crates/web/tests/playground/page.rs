//! A page without a browser.

use std::path::{Path, PathBuf};

use npsim_web::{Answer, Playground};
use serde_json::{Value, json};

/// The repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../..").canonicalize().unwrap()
}

/// The playground that a page sends requests to.
#[derive(Default)]
pub struct Page(Playground);

fn put_all(page: &mut Page, folder: &Path, root: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            put_all(page, &path, root);
        } else {
            let name = path.strip_prefix(root).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            page.put(&format!("/{}", name.display()), bytes);
        }
    }
}

impl Page {
    /// With the shipped microcode and captures.
    pub fn shipped() -> Self {
        let mut page = Self::default();
        let root = repository();
        put_all(&mut page, &root.join("microcode"), &root);
        for capture in ["mixed.pcap", "exceptions.pcap", "minsize.pcap.gz"] {
            let bytes = std::fs::read(root.join("traces").join(capture)).unwrap();
            page.put(&format!("/traces/{capture}"), bytes);
        }
        page
    }

    pub fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        assert_eq!(
            self.0.put(path, bytes.into()),
            Answer::Json(r#"{"ok":true}"#.into())
        );
    }

    /// Adds a file that may be refused.
    pub fn try_put(&mut self, path: &str, bytes: Vec<u8>) -> Value {
        json_of(self.0.put(path, bytes))
    }

    /// Sends any bytes as a request.
    pub fn send(&mut self, request: &[u8]) -> Value {
        json_of(self.0.ask(request))
    }

    /// The answer, whatever it is.
    pub fn try_ask(&mut self, request: &Value) -> Value {
        self.send(request.to_string().as_bytes())
    }

    /// The answer to a request that succeeds.
    pub fn ask(&mut self, request: &Value) -> Value {
        let answer = self.try_ask(request);
        assert_eq!(answer["ok"], true, "{request}: {answer}");
        answer
    }

    /// The error of a request that fails.
    pub fn refused(&mut self, request: &Value) -> String {
        let answer = self.try_ask(request);
        assert_eq!(answer["ok"], false, "{request}: {answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    /// The file that a request returns.
    pub fn file(&mut self, request: &Value) -> Vec<u8> {
        match self.0.ask(request.to_string().as_bytes()) {
            Answer::Bytes(bytes) => bytes,
            Answer::Json(text) => panic!("{request}: {text}"),
        }
    }

    /// Runs to the end beside the debugger, in stretches.
    pub fn measure(&mut self, observe: bool) -> Value {
        let cycles = if observe { 20_000 } else { 1_000_000_000 };
        loop {
            let request = json!({ "op": "measure", "cycles": cycles, "observe": observe });
            let progress = self.ask(&request);
            if progress["done"] == true {
                return progress;
            }
        }
    }
}

fn json_of(answer: Answer) -> Value {
    match answer {
        Answer::Json(text) => serde_json::from_str(&text).unwrap(),
        Answer::Bytes(bytes) => panic!("{} bytes are no JSON", bytes.len()),
    }
}
