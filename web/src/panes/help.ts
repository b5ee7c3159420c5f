/** What the words of the page mean, and its keys. */

import { h } from "../dom";
import { dialog } from "./dialog";

const WORDS: [string, string][] = [
  ["microengine, ME", "One of the chip's small processors. Each runs a program of its own."],
  ["context", "One of the eight threads of a microengine: 1.3 is context 3 of ME 1. One runs at a time, until it goes to sleep by itself."],
  ["asleep", "It waits for a signal: that memory has answered, a packet has come, another context has passed the turn."],
  ["ready", "It could run, but another context has the microengine."],
  ["aborted", "Cycles of instructions that were fetched and thrown away, behind a taken branch or a change of context."],
  ["stalled", "It holds the microengine, and waits for room to issue a command."],
  ["RBUF, TBUF", "Buffers between the ports and the microengines: packets come in pieces through RBUF and go out through TBUF."],
  ["ring", "A queue in memory by which microengines hand packets on."],
  ["names alive", "Registers whose value is still read further on. A bold blue value is new since the last stop."],
  ["exceptions", "Packets handed to the XScale core, which deals with what is rare."],
  ["polling", "Looking again and again whether there is work: busy, and yet idle."],
];

const KEYS: [string, string][] = [
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

const list = (entries: HTMLElement[][], kind: string) => h("dl", { class: kind }, ...entries.flat());

export function helpDialog(): void {
  dialog("Words and keys", [
    list(WORDS.map(([word, what]) => [h("dt", {}, word), h("dd", {}, what)]), "glossary"),
    h("h3", {}, "Keys"),
    list(KEYS.map(([keys, what]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)]), "keys"),
  ]);
}
