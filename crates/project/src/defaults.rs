//! The project in which a single `.uc` runs: generated as a project file, so that `--explain` can
//! show it and `npsim new` can save it.

use npsim_profile::Profile;

/// Ports of a chip whose board has none.
const PORTS: &str = r#"
# The ports, from 0: the line rate, and the router's own address.
[[port]]
rate = "1Gbps"
mac = "02:00:00:00:01:00"

[[port]]
rate = "1Gbps"
mac = "02:00:00:00:02:00"

[[port]]
rate = "1Gbps"
mac = "02:00:00:00:03:00"
"#;

/// Returns the default project file for a source, shown as `source` and run on the microengines
/// `ids`. If `include` is empty, the file has no such key. A `board`, given with its profile, is
/// named instead of `chip` and supplies its own ports if it has any.
#[must_use]
pub(crate) fn default_project(
    name: &str,
    source: &str,
    include: &[String],
    ids: &str,
    chip: &str,
    board: Option<(&str, &Profile)>,
) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_string()).to_string();
    let chip = match board {
        Some((name, _)) => format!("board = {}", quoted(name)),
        None => format!("profile = {}", quoted(chip)),
    };
    let own_ports = board.is_some_and(|(_, board)| !board.board().ports.is_empty());
    let ports = if own_ports { "" } else { PORTS };
    let (name, source, ids) = (quoted(name), quoted(source), quoted(ids));
    let include = if include.is_empty() {
        String::new()
    } else {
        let folders: Vec<_> = include.iter().map(|folder| quoted(folder)).collect();
        format!(
            "# Folders that #include searches after the source's own.\ninclude = [{}]\n",
            folders.join(", ")
        )
    };
    format!(
        r#"# The project that npsim runs a single source in. `npsim docs project` explains every key.
name = {name}
{include}
[chip]
{chip}

[[me]]
id = {ids}
source = {source}
{ports}
# RBUF and TBUF elements.
[media]
element_size = 64

# Scratch rings; the status flag is set when a ring is nearly full.
[[ring]]
name = "RING_0"
size = 128

[[ring]]
name = "RING_1"
size = 128

[[ring]]
name = "RING_2"
size = 128

[[ring]]
name = "RING_3"
size = 128

# Packet buffers: descriptors in SRAM, data in DRAM, all on one queue at the start.
[[queue]]
name = "FREE_BUFFERS"
channel = 0

[buffers]
count = 512
size = 2048
queue = "FREE_BUFFERS"

# What the microcode counts by name, such as packets that it drops.
# [[counter]]
# name = "DROP_SHORT"
# drop = true
# text = "too short for an IPv4 header"
"#
    )
}
