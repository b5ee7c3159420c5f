/** The course of three evenings: `course.json` has its exercises, their projects have the goals. */

import evenings from "./course.json";
import type { Lesson } from "./lesson";

type Evening = (typeof evenings)[number];
type Exercise = Evening["exercises"][number];

function lesson(evening: Evening, it: Exercise): Lesson {
  const folder = `/microcode/course/${it.name}`;
  const target = `${folder}/npsim.toml`;
  return {
    id: it.name, title: it.title, about: `${it.about} *To think about:* ${it.think}`, group: evening.title, chapter: evening.chapter,
    exercise: target, open: { target, path: `${folder}/${it.file}`, traffic: { kind: "project" }, until: "" },
    steps: [
      {
        title: "See where it stands",
        text: `${it.about} Press **Check the goals**: the project runs as it is, and each goal says what it found.`,
        done: ({ exercise }) => exercise?.project === it.name,
      },
      {
        title: "Meet all goals",
        text: `${it.task}\n\nChange \`${it.file}\`, and check again. Goals conflict: a correct but slow program misses one, a fast but wrong program another.`,
        done: ({ exercise }) => exercise?.project === it.name && exercise.passed,
      },
    ],
  };
}

export const course: Lesson[] = evenings.flatMap((evening) => evening.exercises.map((it) => lesson(evening, it)));
