//! The page as bytes.

use std::path::Path;

use super::{OVERLOAD, run, run_output};

fn page(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("index.html")).unwrap()
}

#[test]
fn equal_runs_give_equal_pages() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_output("microcode/forward", OVERLOAD, one.path());
    run_output("microcode/forward", OVERLOAD, two.path());
    assert!(page(one.path()) == page(two.path()), "the pages differ");
}

#[test]
fn a_report_does_not_change_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let stats = |name: &str, report: bool| {
        let file = folder.path().join(name);
        let mut arguments = OVERLOAD.to_vec();
        arguments.extend(["--stats", file.to_str().unwrap()]);
        if report {
            run_output(
                "microcode/forward",
                &arguments,
                &folder.path().join("report"),
            );
        } else {
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_npsim"))
                .current_dir(super::root())
                .args(["run", "microcode/forward"])
                .args(&arguments)
                .output()
                .unwrap();
            assert!(output.status.success());
        }
        std::fs::read(&file).unwrap()
    };
    assert!(stats("with.json", true) == stats("without.json", false));
}

#[test]
fn page_is_self_contained_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    run_output("microcode/forward", OVERLOAD, folder.path());
    let page = page(folder.path());
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "it refers to something: {outside}");
    }
    for id in [
        "bottleneck",
        "throughput",
        "drops",
        "latency",
        "microengines",
        "units",
        "depths",
        "timeline",
        "tables",
        "configuration",
    ] {
        assert!(page.contains(&format!("id=\"{id}\"")), "no section {id}");
    }
    for part in [
        "TX_RING",
        "DROP_TX_RING_FULL",
        "fill-executing",
        " parameters: ",
        "prefers-color-scheme",
        "@media print",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    for wrong in ["NaN", "inf\"", "Infinity"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert!(page.len() < 600_000, "{} bytes", page.len());
}

#[test]
fn project_names_are_escaped_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    std::fs::write(project.join("spin.uc"), "again#:\nnop\nbr[again#]\n").unwrap();
    std::fs::write(
        project.join("npsim.toml"),
        "name = \"<script>alert(1)</script>\"\n[[me]]\nid = \"0\"\nsource = \"spin.uc\"\n# </pre><b>\n",
    )
    .unwrap();
    let report = project.join("report");
    run_output(project.to_str().unwrap(), &["--until", "5us"], &report);
    let page = page(&report);
    assert!(!page.contains("<script>alert") && !page.contains("</pre><b>"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn page_of_a_run_without_frames_says_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("spin.uc");
    std::fs::write(&source, "again#:\nnop\nbr[again#]\n").unwrap();
    let report = folder.path().join("report");
    run_output(source.to_str().unwrap(), &["--until", "20us"], &report);
    let page = page(&report);
    assert_eq!(page.matches("No frames came").count(), 1);
    for part in [
        "id=\"drops\"",
        "id=\"throughput\"",
        "id=\"latency\"",
        "No frame was lost",
        "Per packet sent",
        "Empty whenever",
    ] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("id=\"microengines\""));
}

#[test]
fn limit_is_marked_in_the_bars() {
    let folder = tempfile::tempdir().unwrap();
    run_output("microcode/forward", OVERLOAD, folder.path());
    let page = page(folder.path());
    // The outgoing line of port 1: once for a wide page and once for a narrow one.
    assert_eq!(page.matches(">▶ port 1 line out<").count(), 2);
    assert_eq!(page.matches("▶ marks the limit").count(), 1);
}

#[test]
fn a_fault_still_gives_a_page_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("deadlock.uc");
    std::fs::write(&source, ".sig volatile never\nctx_arb[never]\nnop\n").unwrap();
    let report = folder.path().join("report");
    let output = run(source.to_str().unwrap(), &["--until", "1ms"], &report);
    assert_eq!(output.status.code(), Some(3));
    let page = page(&report);
    assert!(page.contains("class=\"fault\"") && page.contains("stopped by a fault"));
}

#[test]
fn uncreatable_report_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let output = run("microcode/forward", &["--until", "1us"], &file.join("in"));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cannot make"), "{said}");
}
