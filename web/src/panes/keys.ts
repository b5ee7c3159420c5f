/** The keys, and their list. */

import { h } from "../dom";
import { dialog } from "./dialog";

export const KEYS: [string, string][] = [
  ["F5", "run or pause"],
  ["Shift F5", "run backwards"],
  ["F10, Shift F10", "step, step back"],
  ["F11, Shift F11", "into the macro, out of it"],
  ["F9", "breakpoint at the line of the cursor"],
  ["F12, Ctrl click", "to the definition"],
  ["F2", "rename everywhere"],
  ["Shift Alt F", "format the file"],
  ["Ctrl Space", "complete"],
  ["F8", "to the next mistake"],
  ["Arrows on the time line", "10 cycles, with Shift 100"],
  ["Arrows on the lanes", "choose a context"],
  ["Ctrl ], Ctrl [", "indent more, less"],
  ["Tab", "leaves the editor"],
];

export function keysDialog(): void {
  dialog("Keys", [h("dl", { class: "keys" }, ...KEYS.flatMap(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)]))]);
}
