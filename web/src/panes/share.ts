/** The link that holds what is open. */

import { h } from "../dom";
import type { Lab } from "../lab";
import { isCapture, isText } from "../project/files";
import { fileToShared, LONG_LINK, type Shared, toLink } from "../project/share";
import { dialog } from "./dialog";

/** What a link has to hold so that another browser shows the same state. */
export function sharedOf(lab: Lab): Shared {
  const { traffic, until, view, breakpoints, path } = lab.store.value;
  const target = lab.target!;
  const wanted = new Set<string>();
  for (const it of lab.files.changed().keys()) if (isText(it) && near(lab, it)) wanted.add(it);
  if (traffic.kind === "capture" && lab.files.isChanged(traffic.path)) wanted.add(traffic.path);
  const files = Object.fromEntries([...wanted].map((it) => [it, fileToShared(lab.files.get(it)!)]));
  return {
    version: 1, target, files, traffic, until, set: lab.settings, cycle: view?.cycle ?? 0, selected: view?.selected ?? null, stand: view?.stand ?? null, open: path,
    breakpoints: breakpoints.flatMap((it) => it.path !== null && it.line !== null
      ? [{ path: it.path, line: it.line, ...(it.condition ? { condition: it.condition } : {}) }] : []),
  };
}

/** Whether a link includes a file: not captures, nor files of the user's other projects. */
function near(lab: Lab, path: string): boolean {
  if (!path.startsWith("/own/")) return !isCapture(path);
  const target = lab.target!;
  const folder = target.slice(0, target.lastIndexOf("/"));
  return path === target || (folder !== "/own" && path.startsWith(`${folder}/`)) || (lab.store.value.opened?.sources.includes(path) ?? false);
}

export async function shareDialog(lab: Lab): Promise<void> {
  const base = location.href.replace(/#.*/, "");
  const link = await toLink(sharedOf(lab), base);
  const text = h("textarea", { class: "link-text", readonly: true, "aria-label": "Link" });
  text.value = link;
  const copied = h("span", { role: "status", class: "soft" });
  const copy = async () => {
    text.select();
    try {
      await navigator.clipboard.writeText(link);
      copied.textContent = "Copied.";
    } catch {
      copied.textContent = "Selected: copy it with Ctrl+C.";
    }
  };
  dialog("Share where you stand", [
    h("p", {}, "The link holds your changes, the traffic, the breakpoints and the cycle. It is all in the link: nothing is sent to a server."),
    text,
    link.length > LONG_LINK
      ? h("p", { class: "soft" }, `It has ${link.length.toLocaleString("en-US")} characters: mail and chat may cut it. Save the project as a zip instead if it does not open.`)
      : copied,
    h("p", { class: "soft" }, "For slides and books, put ", h("code", {}, "?embed=1"), " before the # and use it in a frame."),
  ], (close) => [h("button", { type: "button", onclick: close }, "Close"), h("button", { type: "button", class: "primary", onclick: () => void copy() }, "Copy the link")]);
  text.select();
}
