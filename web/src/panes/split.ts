/** The line between the editor and the panes below it: moved by the user, or to fit the content of the panes. */

import { byId } from "../dom";
import type { Tabs } from "./tabs";

/** Least height of a pane in pixels, so that its tabs stay in place while all of them show little. */
const LEAST = 230;
/** The panes' greatest share of the height, until the user moves the line. */
const SHARE = "45%";

export function splitter(floor: Tabs): void {
  const split = byId("split");
  const [code, chip, whole] = [byId("code"), byId("chip"), split.parentElement!];
  const row = (height: string) => whole.style.setProperty("--chip-row", height);
  const say = () => split.setAttribute("aria-valuenow", String(Math.round(100 - (100 * chip.offsetHeight) / (whole.offsetHeight || 1))));
  /** Whether the user has moved the line, which then stays there. */
  let moved = false;

  const fit = () => {
    if (moved) return;
    if (floor.shown === "chip") row(SHARE);
    else {
      row(`fit-content(${SHARE})`);
      row(`min(${SHARE}, ${Math.max(LEAST, chip.offsetHeight)}px)`);
    }
    say();
  };
  floor.onshow = fit;
  // Messages come and go while the user types; the lines being typed must not move.
  new MutationObserver(() => {
    if (floor.shown !== "chip" && !code.contains(document.activeElement)) fit();
  }).observe(chip, { childList: true, subtree: true });

  const set = (share: number) => {
    moved = true;
    row(`${100 - Math.round(Math.min(85, Math.max(15, share)))}%`);
    say();
  };
  const now = () => Number(split.getAttribute("aria-valuenow"));
  split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
  split.addEventListener("pointermove", (event) => {
    if (!split.hasPointerCapture(event.pointerId)) return;
    const box = whole.getBoundingClientRect();
    set(((event.clientY - box.top) / box.height) * 100);
  });
  split.addEventListener("keydown", (event) => {
    if (event.key === "ArrowUp") set(now() - 5);
    if (event.key === "ArrowDown") set(now() + 5);
  });
}
