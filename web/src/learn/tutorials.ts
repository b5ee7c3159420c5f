/** Two tutorials: measure and look, and find a mistake by going back. */

import type { Lesson, Scene } from "./lesson";

const WIRE = "/microcode/tutorial/wire.toml";
const WIRE8 = "/microcode/tutorial/wire8.toml";
const HUB = "/microcode/tutorial/hub/npsim.toml";
const STOPS = "/microcode/tutorial/hub/stops.uc";

const cycle = ({ state }: Scene) => state.view?.cycle ?? 0;
const opened = ({ state }: Scene, target: string) => state.opened?.target === target && !state.failure;
const asked = ({ happening }: Scene, command: RegExp) => happening.kind === "command" && command.test(happening.line ?? "");
const selected = ({ state }: Scene, me: number, context: number) => state.view?.selected.me === me && state.view.selected.context === context;

const full = { kind: "load", load: { rate: "1", size: "64", time: "200us" } } as const;

const cycles: Lesson = {
  id: "cycles",
  title: "Where the cycles went",
  about: "A processor that sleeps nine tenths of its time loses packets. Find out why.",
  group: "Tutorials",
  chapter: "where-the-cycles-went",
  open: { target: WIRE, traffic: full, until: "", path: "/microcode/tutorial/wire.uc" },
  steps: [
    {
      title: "Run one context at full load",
      text: "`wire.uc` sends each packet back out of the port by which it came. One context moves one packet at a time. The lines are full: 64-byte frames, back to back. Press **Run** and let it go past cycle 60,000.",
      done: (scene) => opened(scene, WIRE) && cycle(scene) >= 60_000,
    },
    {
      title: "Ask why it sleeps",
      text: "Packets are lost (the red ticks over the lanes), yet the lane of context 0.0 is nearly empty: it is **asleep**. Pause if it still runs. Ask why it sleeps; the button on the right of a context at rest asks the same. If it is awake just now, take a few steps first.",
      asks: [{ title: "Why does it sleep?", line: "why" }],
      done: (scene) => scene.happening.kind === "why" || asked(scene, /^why/),
    },
    {
      title: "Go back",
      text: "Every run is the same to the cycle, so it can be taken back. Step back, or drag the time line to the left: the context's registers become what they were.",
      done: ({ happening }) => happening.kind === "back",
    },
    {
      title: "Follow one packet",
      text: "Choose **Packets** on the right, and there any packet that has left. Its journey has each event and the line that brought it on. Two transfers between DRAM and the buffers of the media interface take most of its time.",
      done: ({ happening, state }) => happening.kind === "packet" && state.packet !== null,
    },
    {
      title: "Measure the whole run",
      text: "Press **What limits it?** over the lanes. The microengine executes a few per cent of its cycles; neither it nor the memory is busy.",
      done: (scene) => scene.happening.kind === "measured" && opened(scene, WIRE),
    },
    {
      title: "Eight contexts",
      text: "`wire8.uc` runs the same loop in all eight contexts: while one sleeps, another works. Open it with the same traffic and measure again. No packet is lost any more, although no memory became faster.",
      open: { target: WIRE8, traffic: full, until: "", path: "/microcode/tutorial/wire8.uc" },
      done: (scene) => scene.happening.kind === "measured" && opened(scene, WIRE8),
    },
  ],
};

const mended = (text: string) => /^\s*turn_pass\(out\)[^]*?^\s*br_bclr\[status, RECEIVE_EOP_BIT/m.test(text.slice(text.indexOf("too_long#:")));

const lost: Lesson = {
  id: "lost",
  title: "Everything stops",
  about: "A hub forwards 92 packets, then none. Begin at the symptom, and go back to the cause.",
  group: "Tutorials",
  chapter: "lost-packet",
  open: { target: HUB, traffic: { kind: "load", load: { rate: "0.6", time: "1ms" } }, until: "", set: { "me.receive.source": "stops.uc" }, path: STOPS },
  steps: [
    {
      title: "Run until it stops",
      text: "Eight contexts of `stops.uc` put each packet on a ring, in turn. There is a mistake in it; do not read it yet. Press **Run**: the simulator stops the run when it sees that contexts wait for a signal that nothing raises any more.",
      done: ({ state }) => state.view?.reason.kind === "fault",
    },
    {
      title: "Ask who gave the turn",
      text: "Contexts of microengine 0 wait for `out`, signal 2: the turn to put a packet on the ring, which each passes to the next. Choose context **0.5**, and ask who raised the signal last.",
      asks: [{ title: "Choose context 0.5", line: "context 0.5" }, { title: "Who raised its out?", line: "who out 1" }],
      done: (scene) => asked(scene, /^who out/) && selected(scene, 0, 5),
    },
    {
      title: "And the one before",
      text: "0.5 had its turn from 0.4. Did 0.4 get it again, later? Ask that about **0.4**, too.",
      asks: [{ title: "Choose context 0.4", line: "context 0.4" }, { title: "Who raised its out?", line: "who out 1" }],
      done: (scene) => asked(scene, /^who out/) && selected(scene, 0, 4),
    },
    {
      title: "Go to where the turn was lost",
      text: "0.4 got the turn in cycle 31,523 and never passed it on. Go there, on to the cycle in which it gets the pipeline and runs with the turn, and two lines further. Watch where it goes.",
      asks: [
        { title: "Go to cycle 31,523", line: "goto 31523" }, { title: "On to its next run", line: "run" },
        { title: "One line further", line: "next" },
      ],
      done: (scene) => selected(scene, 0, 4) && cycle(scene) >= 31_527 && cycle(scene) <= 31_540,
    },
    {
      title: "Mend it",
      text: "It went back to the beginning of the loop: the branch under `too_long#` skips `turn_pass(out)`. A turn must be passed on by every path. Move `turn_pass(out)` before the branch `br_bclr[status, RECEIVE_EOP_BIT, next#]`.",
      done: ({ lab }) => mended(lab.files.text(STOPS) ?? ""),
    },
    {
      title: "Run anew",
      text: "Measure the whole run. No check stops it now, and about 1,710 packets leave.",
      done: ({ happening, state, lab }) => happening.kind === "measured" && state.view !== null && mended(lab.files.text(STOPS) ?? ""),
    },
  ],
};

export const tutorials = [cycles, lost];
