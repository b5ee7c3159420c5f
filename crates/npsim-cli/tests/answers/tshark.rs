//! tshark, if it is installed.

use std::path::Path;
use std::process::Command;

/// The given fields of the frames that match a filter, one line per frame, separated by tabs;
/// `None`, with a message, if tshark is not installed.
pub fn fields(capture: &Path, filter: &str, fields: &[&str]) -> Option<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-Y", filter]);
    command.args(["-o", "ip.check_checksum:TRUE", "-T", "fields"]);
    // The packet quoted by an error message would give a second value.
    command.args(["-E", "occurrence=f"]);
    for field in fields {
        command.args(["-e", field]);
    }
    match command.output() {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{errors}");
            Some(String::from_utf8(output.stdout).expect("UTF-8"))
        }
        Err(error) => {
            eprintln!("tshark is not asked: {error}");
            None
        }
    }
}

/// tshark also finds all checksums correct.
pub fn assert_sound(capture: &Path) {
    let wrong = "ip.checksum.status == 0 || icmp.checksum.status == 0 || _ws.malformed";
    if let Some(found) = fields(capture, wrong, &["frame.number"]) {
        assert_eq!(found, "", "frames of {}", capture.display());
    }
}
