/** One line over the lanes that says how the run does, and where the limit is once it was measured. */

import { fill, h } from "../dom";
import type { View } from "../engine/protocol";
import type { Lab } from "../lab";
import { count } from "../state";

export function words(lab: Lab): HTMLElement {
  const text = h("p");
  const measure = h("button", { type: "button", onclick: () => void lab.measure() }, "What limits it?");
  const line = h("div", { class: "words" }, text, measure);
  lab.store.on(["view", "headline", "running", "stale", "failure"], () => {
    const { view, headline, stale, running, failure } = lab.store.value;
    line.hidden = !view && !failure;
    measure.hidden = !view || (headline !== null && !stale);
    measure.disabled = running !== "no";
    text.className = view && view.totals.lost > 0 ? "lost" : "";
    if (!view) {
      if (failure) fill(text, h("strong", {}, "It cannot run: "), failure.message, ".");
      return;
    }
    if (view.reason.kind === "fault") {
      fill(text, h("strong", {}, `${view.reason.name}: `), view.reason.message, " ", view.reason.help);
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
  const parts: (HTMLElement | string)[] = [`${count(totals.came)} packets came, ${count(totals.left)} left`];
  if (totals.lost > 0) parts.push(", ", h("strong", {}, `${count(totals.lost)} were lost`));
  parts.push(". ");
  if (full) parts.push(`${full.name} is full. `);
  if (busiest) parts.push(`Busiest: microengine ${busiest.me} (${busiest.stage}), ${Math.round((1 - busiest.idle) * 100)}% of its time.`);
  return parts;
}
