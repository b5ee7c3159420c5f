// The licences of everything in the page are distributed with it.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const web = join(fileURLToPath(import.meta.url), "../..");
const read = (path) => readFileSync(join(web, path), "utf8");

test("licences are those of the packages that are locked", () => {
  execFileSync("node", [join(web, "licences.mjs"), "--check"]);
});

test("the page's folder has the licences of what is in it", () => {
  assert.equal(read("dist/lab/LICENSES.md"), read("LICENSES.md"));
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) assert.equal(read(`dist/lab/${name}`), read(`../${name}`));
});

const lists = spawnSync("python3", ["-c", "import tomllib"]).status === 0;
test("among them are those of crates that are linked into the module", { skip: lists ? false : "needs Python 3.11" }, () => {
  assert.match(read("dist/lab/THIRD-PARTY-LICENSES.txt"), /^serde 1\./m);
});
