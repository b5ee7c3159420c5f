// Writes LICENSES.md: the third-party packages in the built page, with the texts of their licences.
// node licences.mjs [--check]: --check writes nothing, and fails if the file is out of date

import { readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
const inPage = Object.entries(lock.packages).filter(([path, it]) => path !== "" && !it.dev && !it.optional);
const row = ([path, it]) => `| ${path.replace("node_modules/", "")} | ${it.version} | ${it.license} |`;
/** The comment at the beginning of a package's program, which some packages have instead of a licence file. */
function banner(path) {
  const { main } = JSON.parse(readFileSync(join(here, path, "package.json"), "utf8"));
  const program = main ? readFileSync(join(here, path, main), "utf8") : "";
  return /^\/\*!([^]*?)\*\//.exec(program)?.[1].replace(/^ \* ?/gm, "").trim() ?? "";
}

/** Adds the notice that the MIT licence requires in copies, if a comment only names the licence. */
function withPermission(text, all) {
  if (!/License: MIT/.test(text)) return text;
  const [permission] = all.map((it) => /Permission is hereby granted[^]*/.exec(it)?.[0]).filter((it) => it);
  return `${text}\n\n${permission}`;
}

const texts = new Map();
for (const [path] of inPage) {
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map((it) => join(here, path, it)).find((it) => existsSync(it));
  const text = file ? readFileSync(file, "utf8").trim() : withPermission(banner(path), [...texts.keys()]);
  texts.set(text, [...(texts.get(text) ?? []), path.replace("node_modules/", "")]);
}
const parts = [
  "# What the page contains of others",
  "Written by `node licences.mjs` from package-lock.json. The simulator's own crates are listed by `cargo tree -p npsim-web`.",
  ["| package | version | licence |", "| --- | --- | --- |", ...inPage.map(row)].join("\n"),
  ...[...texts].filter(([text]) => text !== "").map(([text, names]) => `## ${names.join(", ")}\n\n\`\`\`text\n${text}\n\`\`\``),
];
const file = join(here, "LICENSES.md");
const text = `${parts.join("\n\n")}\n`;
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("LICENSES.md is out of date: run node licences.mjs");
  process.exit(1);
}
