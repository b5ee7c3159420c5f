//! Network files give a network, or a message with a position in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim::network_file::advisories::advisories;
use npsim::network_file::file::NetworkFile;

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    match NetworkFile::parse("network.toml", &text) {
        Ok(mut file) => {
            let _ = advisories(&file, &[]);
            let _ = file.refuse_interfaces();
            let _ = file.refuse_scale();
            file.reseed(1);
            file.replicate(2);
        }
        Err(problem) => assert!(!npsim::diagnostics::render_problem(&problem).is_empty()),
    }
});
