/** The course of three evenings: `course.json` has its exercises, their projects have the goals. */

import evenings from "./course.json";
import type { Lesson } from "./lesson";

interface Exercise {
  name: string;
  title: string;
  /** The file to change. */
  file: string;
  about: string;
  task: string;
  hint?: string;
  think: string;
}

interface Evening {
  title: string;
  /** The teacher's chapter of the book. */
  chapter: string;
  exercises: Exercise[];
}

function lesson(evening: Evening, it: Exercise): Lesson {
  const folder = `/microcode/course/${it.name}`;
  const target = `${folder}/npsim.toml`;
  return {
    id: it.name, title: it.title, about: it.about, think: it.think, group: evening.title,
    exercise: target, open: { target, path: `${folder}/${it.file}`, traffic: { kind: "project" }, until: "" },
    steps: [
      {
        title: "See where it stands",
        text: "Press **Check the goals**: the project runs as it is, and each goal says what it found.",
        done: ({ exercise }) => exercise?.project === it.name,
      },
      {
        title: "Meet all goals",
        text: `${it.task}\n\nChange \`${it.file}\`, and check again. Goals conflict: a correct but slow program misses one, a fast but wrong program another.`,
        ...(it.hint ? { hint: it.hint } : {}),
        done: ({ exercise }) => exercise?.project === it.name && exercise.passed,
      },
    ],
  };
}

export const course: Lesson[] = (evenings as Evening[]).flatMap((evening) => evening.exercises.map((it) => lesson(evening, it)));

/** The teacher's chapters, by the title of their evening. */
export const notes = new Map(evenings.map((it) => [it.title, it.chapter]));

/** The title of an exercise, by its project. */
export const exerciseTitles = new Map(course.map((it) => [it.exercise!, it.title]));
