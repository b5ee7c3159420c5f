/** One line above the lanes: the state of the run, and its limit once measured. */

import { fill, h } from "../dom";
import type { Traffic, View } from "../engine/protocol";
import type { Lab } from "../lab";
import { ticked } from "../markdown";
import { count } from "../state";

export function words(lab: Lab): HTMLElement {
  const text = h("p");
  const measure = h("button", { type: "button", onclick: () => void lab.measure() }, "What limits it?");
  const faster = h("button", { type: "button", onclick: () => void backToBack(lab) }, "Play it back to back");
  const line = h("div", { class: "words" }, text, measure, faster);
  lab.store.on(["view", "headline", "running", "stale", "failure", "traffic"], () => {
    const { view, headline, stale, running, failure, traffic } = lab.store.value;
    line.hidden = !view && !failure;
    measure.hidden = !view || (headline !== null && !stale);
    faster.hidden = !view || !measure.hidden || !slower(traffic);
    measure.disabled = faster.disabled = running !== "no";
    text.className = view && view.totals.lost > 0 ? "lost" : "";
    if (!view) {
      if (failure) fill(text, h("strong", {}, "It cannot run: "), failure.message, ".");
      return;
    }
    if (view.reason.kind === "fault") {
      fill(text, h("strong", {}, `${view.reason.name}: `), ...sentence(view.reason.message), view.reason.help && " ", ...sentence(view.reason.help ?? ""));
    } else if (failure) fill(text, h("strong", {}, "The changed source does not assemble: "), failure.message);
    else if (headline !== null && !stale) fill(text, headline);
    else fill(text, ...live(view));
  });
  return line;
}

function live(view: View): (HTMLElement | string)[] {
  const { totals } = view;
  if (view.cycle === 0) return ["Nothing has happened yet. Run, step, or drag the time line."];
  const busiest = [...view.microengines].sort((a, b) => a.idle - b.idle)[0];
  const full = view.rings.find((it) => it.size !== undefined && it.fill > 0.9 * it.size);
  const parts: (HTMLElement | string)[] = view.ports.length > 0 ? [...fates(totals), ". "] : [];
  if (full) parts.push(`${full.name} is full. `);
  if (busiest) parts.push(`Busiest, polling included: microengine ${busiest.me} (${busiest.stage}), ${Math.round((1 - busiest.idle) * 100)}% of its time.`);
  return parts;
}

/** What became of the packets that have arrived. */
export function fates({ came, left, lost, inside, slow_path: exceptions }: View["totals"]): (HTMLElement | string)[] {
  const parts: (HTMLElement | string)[] = [`${count(came)} ${came === 1 ? "packet" : "packets"} arrived: ${count(left)} sent`];
  if (exceptions > 0) parts.push(`, ${count(exceptions)} exceptions`);
  if (inside > 0) parts.push(`, ${count(inside)} inside`);
  if (lost > 0) parts.push(", ", h("strong", {}, `${count(lost)} lost`));
  return parts;
}

/** Whether a capture is replayed more slowly than the line rate. */
const slower = (traffic: Traffic) => traffic.kind === "capture" && traffic.pace !== "line";

async function backToBack(lab: Lab): Promise<void> {
  const { traffic } = lab.store.value;
  if (traffic.kind === "capture" && (await lab.reopen({ traffic: { ...traffic, pace: "line" } }))) await lab.measure();
}

/** A clause from the simulator as a separate sentence. */
const sentence = (clause: string): (Node | string)[] =>
  clause === "" ? [] : ticked(`${clause[0]!.toUpperCase()}${clause.slice(1)}${/[.?!]$/.test(clause) ? "" : "."}`);
