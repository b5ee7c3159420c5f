//! Tests of settings on a project file, and of their errors.

use super::{Setting, apply, apply_to_profile};
use crate::ProjectText;
use crate::registry::Registry;
use npsim_profile::Profile;
use std::path::PathBuf;

const FILE: &str = r#"# comment
[[me]]
id = "0-2"
source = "code/forward.uc"
define = { N = 4 }
[[me]]
id = 3
source = "transmit.uc"
[[port]]
rate = "1Gbps"
[[port]]
rate = "1Gbps"
[[ring]]
name = "TX_RING"
size = 128
[[route]]
prefix = "10.0.0.0/8"
port = 0
[gpp]
tasks = ["routes"]
"#;

fn text() -> ProjectText {
    ProjectText {
        path: "npsim.toml".into(),
        folder: PathBuf::from("."),
        text: FILE.into(),
        files: Vec::new(),
        source_map: None,
    }
}

fn with(settings: &[&str]) -> Result<String, String> {
    let settings: Vec<Setting> = settings.iter().map(|s| s.parse().expect(s)).collect();
    apply(&text(), &settings, None, &Registry::default())
        .map(|(text, _)| text.text.to_string())
        .map_err(|problem| problem.to_string())
}

#[test]
fn setting_path_accepts_key_index_name_prefix_and_star() {
    let changed = with(&[
        "chip.profile=ixp2400",
        "me.forward.id=4",
        "me.1.id=5",
        "me.forward.define.N=5",
        "me.transmit.define.FAST=yes",
        "port.*.rate=10Gbps",
        "ring.TX_RING.size=256",
        "route.\"10.0.0.0/8\".port=1",
        "gpp.tasks.0=exceptions",
    ])
    .unwrap();
    assert!(changed.starts_with("# comment"), "{changed}");
    for expected in [
        "id = \"4\"",
        "id = 5",
        "N = 5",
        "FAST = \"yes\"",
        "size = 256",
        "port = 1",
        "[\"exceptions\"]",
        "profile = \"ixp2400\"",
    ] {
        assert!(changed.contains(expected), "{expected} in\n{changed}");
    }
    assert_eq!(changed.matches("10Gbps").count(), 2);
}

#[test]
fn defines_alone_leave_the_text_unchanged() {
    let (same, applied) = apply(
        &text(),
        &["define.X=1".parse().unwrap()],
        None,
        &Registry::default(),
    )
    .unwrap();
    assert_eq!((&*same.text, same.path.as_str()), (FILE, "npsim.toml"));
    assert_eq!(applied.defines, [("X".to_owned(), "1".to_owned())]);
}

#[test]
fn invalid_setting_path_suggests_valid_ones() {
    for (setting, expected) in [
        ("chip.profil=x", "did you mean `profile`?"),
        ("chp.profile=x", "did you mean `chip`?"),
        ("chp.profile=x", "no `chp` in a project file"),
        ("me.forwrd.id=4", "did you mean `me.forward`?"),
        ("me.7.id=4", "choose one of 0 or `forward`, 1 or `transmit`"),
        ("queue.X.channel=1", "the project has no [[queue]]"),
        ("me.forward=1", "say which of its keys"),
        ("me=1", "`me` is a list of tables"),
        ("ring.TX_RING.size.x=1", "is a single value"),
        (
            "ring.TX_RING.size=many",
            "must be a whole number from 0 to 65535",
        ),
        ("gpp.tasks.4=x", "a list of 1 values"),
        ("profile.sram=1", "a group and a name"),
        ("define.1x=1", "a define is one name"),
    ] {
        let message = with(&[setting]).expect_err(setting);
        assert!(message.contains(expected), "{setting}: {message}");
        assert!(message.contains(setting), "{message}");
    }
    let deep = format!("{}=1", vec!["a"; 100_000].join("."));
    for bad in ["a.b", "=1", "a..b=1", "\"a=1", &deep] {
        assert!(bad.parse::<Setting>().is_err(), "{bad}");
    }
}

#[test]
fn unparsable_text_is_left_unchanged() {
    let wrong = ProjectText {
        text: "[chip\n".into(),
        ..text()
    };
    let (same, _) = apply(
        &wrong,
        &["a.b=1".parse().unwrap()],
        None,
        &Registry::default(),
    )
    .unwrap();
    assert_eq!(&*same.text, "[chip\n");
}

#[test]
fn profile_settings_are_applied_and_listed() {
    let profile = Profile::load("ixp2400").unwrap();
    let known = profile.parameters().next().unwrap();
    let (group, name, value) = (known.group, known.name, known.value);
    let set = |text: String| apply_to_profile(profile.clone(), &[text.parse().unwrap()]);
    let (_, none) = set(format!("profile.{group}.{name}={value}")).unwrap();
    assert!(none.is_empty());
    let (changed, list) = set("profile.sram.read=120".into()).unwrap();
    assert_eq!((list.len(), list[0].to), (1, 120.into()));
    assert_ne!(changed, profile);
    let message = set("profile.sram.raed=120".into()).unwrap_err().to_string();
    assert!(message.contains("profile.sram.read"), "{message}");
    assert!(set("profile.sram.read=fast".into()).is_err());
    assert!(set("profile.sram.read=99999999999".into()).is_err());
    let (open, list) = set("profile.dram.rows=open".into()).unwrap();
    assert_eq!(list[0].to.to_string(), "open");
    assert_eq!(open.dram_rows(), npsim_profile::RowPolicy::Open);
    let message = set("profile.dram.rows=opne".into())
        .unwrap_err()
        .to_string();
    assert!(message.contains("expected `closed` or `open`"), "{message}");
    assert!(message.contains("did you mean `open`?"), "{message}");
}
