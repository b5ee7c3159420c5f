//! The page in a real browser, if one is installed: it loads without errors and without any
//! requests, fits its window at three widths, and prints.

use std::path::Path;
use std::process::Command;

use super::{OVERLOAD, run_output};

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn browser() -> Option<&'static str> {
    BROWSERS.into_iter().find(|name| {
        let found = Command::new(name).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    })
}

/// A script that examines the page and writes its findings into the title.
const INSPECT_SCRIPT: &str = r##"<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("load", () => {
  const shown = (part) => part.getClientRects().length > 0;
  const root = document.documentElement;
  const charts = [...document.querySelectorAll("svg.chart")].filter(shown);
  const empty = charts.filter((chart) => {
    const box = chart.getBoundingClientRect();
    return box.width < 100 || box.height < 40 || !chart.querySelector("path[d], rect");
  });
  const overlaps = [];
  for (const chart of charts) {
    const boxes = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([two, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 5) overlaps.push(one + " / " + two);
    }));
  }
  const outside = performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !name.startsWith("data:"));
  const clipped = [...document.querySelectorAll(".tile, .card")].filter((part) => part.scrollWidth > part.clientWidth + 1);
  const found = {
    errors, outside, overlaps, width: innerWidth,
    wide: root.scrollWidth - root.clientWidth,
    charts: charts.length, empty: empty.length, clipped: clipped.length,
    bottleneck: document.querySelector("#bottleneck .verdict").textContent,
  };
  const place = document.createElement("pre");
  place.id = "found";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
});
</script>"##;

fn headless(name: &str, home: &Path) -> Command {
    let mut command = Command::new(name);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
        ])
        .arg(format!("--user-data-dir={}", home.display()));
    command
}

/// The script's findings in a window of the given width in pixels. The page is put into a frame,
/// because windows cannot be as narrow as a telephone.
fn inspect_page(name: &str, folder: &Path, width: u32) -> serde_json::Value {
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    let watched = page.replacen("<style>", &format!("{INSPECT_SCRIPT}<style>"), 1);
    assert_ne!(page, watched);
    std::fs::write(folder.join("watched.html"), watched).unwrap();
    let frame = format!(
        "<!DOCTYPE html><iframe id=\"page\" src=\"watched.html\" style=\"width:{width}px;height:900px;border:0\"></iframe><pre id=\"out\"></pre><script>addEventListener('load', () => setTimeout(() => {{ document.getElementById('out').textContent = 'FOUND' + document.getElementById('page').contentDocument.getElementById('found').textContent + 'END'; }}, 50));</script>"
    );
    let frame_file = folder.join("frame.html");
    std::fs::write(&frame_file, frame).unwrap();
    let output = headless(name, &folder.join("home"))
        .args([
            "--window-size=1400,1000",
            "--virtual-time-budget=3000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", frame_file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text
        .split_once("FOUND")
        .and_then(|(_, rest)| rest.split_once("END"))
        .map(|(found, _)| {
            found
                .replace("&amp;", "&")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
        });
    let found = found.unwrap_or_else(|| {
        panic!(
            "nothing found: {text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    serde_json::from_str(&found).unwrap()
}

#[test]
fn the_page_fits_three_widths_and_loads_without_errors() {
    let Some(name) = browser() else {
        eprintln!("skipped: no browser is installed ({})", BROWSERS.join(", "));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    run_output("microcode/forward", OVERLOAD, folder.path());
    for width in [1280, 800, 400] {
        let found = inspect_page(name, folder.path(), width);
        assert_eq!(found["width"], width, "{found}");
        for list in ["errors", "outside", "overlaps"] {
            assert_eq!(
                found[list],
                serde_json::json!([]),
                "{list} at {width}: {found}"
            );
        }
        for count in ["wide", "empty", "clipped"] {
            assert_eq!(found[count], 0, "{count} at {width}: {found}");
        }
        assert!(found["charts"].as_u64().unwrap() > 10, "{found}");
        let verdict = found["bottleneck"].as_str().unwrap();
        assert!(verdict.contains("is the limit"), "{verdict}");
    }
}

#[test]
fn page_can_be_printed_to_pdf() {
    let Some(name) = browser() else {
        eprintln!("skipped: no browser is installed ({})", BROWSERS.join(", "));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    run_output("microcode/forward", OVERLOAD, folder.path());
    let file = folder.path().join("report.pdf");
    let status = headless(name, &folder.path().join("home"))
        .arg("--no-pdf-header-footer")
        .arg(format!("--print-to-pdf={}", file.display()))
        .arg(format!(
            "file://{}",
            folder.path().join("index.html").display()
        ))
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    let pdf = std::fs::read(&file).unwrap();
    assert!(
        pdf.starts_with(b"%PDF") && pdf.len() > 20_000,
        "{} bytes",
        pdf.len()
    );
}
