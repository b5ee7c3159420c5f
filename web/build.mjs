// Makes dist/lab/ (static files for any server) and dist/npsim-laboratory.html (one file).
// node build.mjs [--wasm FILE]

import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { marked } from "marked";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..");
const dist = join(here, "dist");
const lab = join(dist, "lab");
const option = process.argv.indexOf("--wasm");
const wasmPath = option > 0 ? process.argv[option + 1] : join(root, "target/wasm32-unknown-unknown/web/npsim_web.wasm");
if (!existsSync(wasmPath)) {
  console.error(`no module at ${wasmPath}: build.sh makes it`);
  process.exit(1);
}

const TRACES = ["mixed.pcap", "minsize.pcap.gz", "exceptions.pcap", "two-ports.pcapng"];

function* walk(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else yield path;
  }
}

const CHAPTERS = ["course-1", "course-2", "course-3", "where-the-cycles-went", "lost-packet"];

/** A chapter of the book without its links, which lead to chapters that are not in the page. */
function chapter(name) {
  const text = readFileSync(join(root, `docs/src/${name}.md`), "utf8");
  const plain = text.replace(/!\[[^\]]*\]\([^)]*\)\n*/g, "").replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1").replace(/^```(\w+),.*$/gm, "```$1");
  return marked.parse(plain, { async: false });
}

function pack() {
  const paths = [...walk(join(root, "microcode"))].filter((it) => /\.(uc|toml|md|elf)$/.test(it) && !it.endsWith("Cargo.toml"));
  paths.push(...TRACES.map((it) => join(root, "traces", it)));
  // Captures are recognised by their first bytes, whatever their names; compressed data compresses badly.
  const content = (path) => (path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path));
  const files = paths.map((it) => [`/${relative(root, it)}`, content(it)]);
  for (const path of walk(join(here, "files"))) files.push([`/${relative(join(here, "files"), path)}`, readFileSync(path)]);
  for (const name of CHAPTERS) files.push([`/book/${name}.html`, Buffer.from(chapter(name))]);
  const index = Buffer.from(JSON.stringify(files.map(([path, bytes]) => [path, bytes.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(index.length);
  return xz(Buffer.concat([length, index, ...files.map(([, bytes]) => bytes)]));
}

/**
 * Makes the module a third smaller than gzip does. The dictionary takes memory in the page. `wasm-opt -Oz` before it makes
 * a module that is an eighth smaller, but 8 % larger when packed.
 */
function xz(bytes) {
  return execFileSync("xz", ["--check=crc32", "--lzma2=preset=9e,dict=8MiB,nice=273,lc=4,lp=0,pb=0"], { input: bytes, maxBuffer: 1 << 28 });
}

async function bundle(entry, inline, stamp) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none",
    define: { INLINE: String(inline), BUILD: JSON.stringify(stamp) },
  });
  return result.outputFiles[0].text;
}

async function style() {
  const font = (family, name, weight) => {
    const file = readFileSync(join(here, `node_modules/@fontsource/${name}/files/${name}-latin-${weight}-normal.woff2`));
    return `@font-face{font-family:"${family}";font-weight:${weight};font-display:swap;src:url(data:font/woff2;base64,${file.toString("base64")}) format("woff2")}`;
  };
  const fonts = [["Plex Sans", "ibm-plex-sans", 400], ["Plex Sans", "ibm-plex-sans", 600], ["Plex Mono", "ibm-plex-mono", 400], ["Plex Mono", "ibm-plex-mono", 600]];
  const sheets = ["theme", "layout", "panes", "editor"].map((it) => readFileSync(join(here, `src/style/${it}.css`), "utf8"));
  const { transform } = await import("esbuild");
  const { code } = await transform(sheets.join("\n"), { loader: "css", minify: true });
  return fonts.map((it) => font(...it)).join("") + code;
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(lab, { recursive: true });
const wasm = xz(readFileSync(wasmPath));
const files = pack();
const css = await style();
const template = readFileSync(join(here, "src/index.html"), "utf8");
const worker = await bundle("engine/worker.ts", false, "");
const app = await bundle("main.ts", false, "");
const stamp = createHash("sha256").update(wasm).update(files).update(css).update(worker).update(app).digest("hex").slice(0, 12);
const parts = {
  "index.html": template.replace("<!--style-->", () => '<link rel="stylesheet" href="style.css">').replace("<!--script-->", () => '<script src="app.js"></script>'),
  "app.js": app,
  "worker.js": worker,
  "sw.js": await bundle("sw.ts", false, stamp),
  "style.css": css,
  "npsim.wasm.xz": wasm,
  "files.pack.xz": files,
};
for (const [name, content] of Object.entries(parts)) writeFileSync(join(lab, name), content);

const inline = await bundle("main.ts", true, stamp);
const data = (id, bytes) => `<script type="text/plain" id="${id}">${Buffer.from(bytes).toString("base64")}</script>`;
const single = template
  .replace("<!--style-->", () => `<style>${css}</style>`)
  .replace("<!--script-->", () =>
    data("part-wasm", wasm) + data("part-files", files) + data("part-worker", worker) + `<script>${inline.replaceAll("</script", "<\\/script")}</script>`);
writeFileSync(join(dist, "npsim-laboratory.html"), single);

let all = 0;
for (const name of Object.keys(parts)) {
  const bytes = readFileSync(join(lab, name));
  const packed = name.endsWith(".xz") ? bytes.length : gzipSync(bytes).length;
  all += packed;
  console.log(`${name.padEnd(16)} ${String(bytes.length).padStart(9)} bytes ${String(packed).padStart(9)} over a network`);
}
console.log(`all              ${" ".repeat(15)} ${String(all).padStart(9)} over a network; one file ${statSync(join(dist, "npsim-laboratory.html")).size} bytes`);
