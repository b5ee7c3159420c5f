// Opens a timeline in the Perfetto viewer and takes a picture of it.
//
//   node timeline.cjs VIEWER TIMELINE PICTURE FROM UNTIL TRACK...
//
// VIEWER is a folder with the viewer's files, FROM and UNTIL are nanoseconds of
// simulated time, a TRACK is a regular expression that names what is shown, from
// top to bottom.

const fs = require("fs");
const http = require("http");
const path = require("path");
const puppeteer = require("puppeteer-core");

const [viewer, timeline, picture, from, until, ...wanted] = process.argv.slice(2);
const browser = process.env.BROWSER || "/usr/bin/chromium";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json", ".woff2": "font/woff2", ".png": "image/png" };
const pause = (seconds) => new Promise((resume) => setTimeout(resume, seconds * 1000));

const server = http.createServer((request, response) => {
  const asked = decodeURIComponent(request.url.split("?")[0]).replace(/\/$/, "/index.html");
  fs.readFile(path.join(viewer, path.normalize(asked)), (error, data) => {
    response.writeHead(error ? 404 : 200, { "content-type": types[path.extname(asked)] || "application/octet-stream" });
    response.end(error ? "" : data);
  });
});

// Runs in the page: leaves only the wanted groups and tracks, and shows the
// wanted time.
function arrange(wanted, from, until) {
  const trace = app.trace;
  const workspace = trace.currentWorkspace || trace.workspace;
  const all = workspace.flatTracks.map((node) => node.fullPath.join(" / "));
  const patterns = wanted.map((one) => new RegExp(one));
  const missing = wanted.filter((one, index) => !all.some((name) => patterns[index].test(name)));
  const place = (node) => {
    const names = [node, ...node.flatTracks].map((one) => one.fullPath.join(" / "));
    return patterns.findIndex((pattern) => names.some((name) => pattern.test(name)));
  };
  const keep = (parent) => {
    const kept = parent.children.map((node) => [place(node), node]);
    kept.filter(([at]) => at < 0).forEach(([, node]) => node.remove());
    return kept.filter(([at]) => at >= 0).sort(([a], [b]) => a - b).map(([, node]) => node);
  };
  for (const group of keep(workspace)) {
    workspace.addChildLast(group);
    for (const track of keep(group)) {
      group.addChildLast(track);
      track.expand();
    }
    group.expand();
  }
  const TimeSpan = trace.timeline.visibleWindow.toTimeSpan().constructor;
  trace.timeline.updateVisibleTime(new TimeSpan(BigInt(from), BigInt(until)));
  return { missing, tracks: missing.length ? all : [] };
}

(async () => {
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const chromium = await puppeteer.launch({ executablePath: browser, headless: true, args: ["--no-sandbox", "--disable-gpu"], defaultViewport: { width: 1400, height: 640 } });
  const page = await chromium.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForSelector("input[type=file]");
  await pause(3);
  await (await page.$("input[type=file]")).uploadFile(timeline);
  await page.waitForFunction(() => app.trace && app.trace.workspace && app.trace.workspace.flatTracks.length > 5, { timeout: 60000 });
  await pause(5);
  // The viewer first looks for its own server, and reports that there is none: close that message.
  await page.keyboard.press("Escape");
  const { missing, tracks } = await page.evaluate(arrange, wanted, from, until);
  if (missing.length) throw new Error(`no tracks ${missing.join(", ")} among\n${tracks.join("\n")}`);
  await pause(4);
  await page.screenshot({ path: picture });
  await chromium.close();
  server.close();
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
