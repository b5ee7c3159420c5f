/** What a lesson is: steps, each with a goal that checks itself. */

import type { ExerciseAnswer, Traffic } from "../engine/protocol";
import type { Happening, Lab } from "../lab";
import type { State } from "../state";

export interface Opening {
  target: string;
  traffic?: Traffic;
  until?: string;
  set?: Record<string, string>;
  /** The file to show. */
  path?: string;
}

/** The state by which a goal is judged, after each event. */
export interface Scene {
  lab: Lab;
  state: Readonly<State>;
  happening: Happening;
  exercise: ExerciseAnswer | null;
}

export interface Step {
  title: string;
  /** Markdown. */
  text: string;
  open?: Opening;
  /** Markdown that is folded away at first. */
  hint?: string;
  /** Questions that the step offers, with the console command for each. */
  asks?: { title: string; line: string }[];
  done: (scene: Scene) => boolean;
}

export interface Lesson {
  id: string;
  title: string;
  about: string;
  group: string;
  /** A chapter of the book about it, in the pack. */
  chapter?: string;
  open: Opening;
  /** The project whose goals are checked. */
  exercise?: string;
  /** A question to think about once it is done. */
  think?: string;
  steps: Step[];
}
