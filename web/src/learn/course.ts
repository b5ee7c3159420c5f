/** The course of three evenings: seven exercises, whose projects have the goals. */

import type { Lesson, Step } from "./lesson";

const EVENINGS = ["First evening: contexts hide latency", "Second evening: locks and atomic operations", "Third evening: order and congestion"];

interface Exercise {
  name: string;
  title: string;
  evening: 0 | 1 | 2;
  /** The file to change. */
  file: string;
  about: string;
  task: string;
  think: string;
}

const EXERCISES: Exercise[] = [
  {
    name: "eight-chains", title: "Eight chains", evening: 0, file: "chains.uc",
    about: "One context adds up eight linked lists in SRAM, as a hash table has them.",
    task: "A list cannot be prefetched: each node holds the address of the next. But there are eight lists, and eight contexts. Let each context walk one list; its number comes from `local_csr_rd[ACTIVE_CTX_STS]`. Beware: eight contexts then write one `TOTAL`.",
    think: "Would sixteen contexts halve the time again?",
  },
  {
    name: "one-reader", title: "One reader", evening: 0, file: "reader.uc",
    about: "One context adds up a kilobyte of DRAM, and has to remain the only one.",
    task: "Two ideas help. A command moves up to eight quadwords into consecutive transfer registers (`.xfer_order`). And a context can issue a command without sleeping (`sig_done` instead of `ctx_swap`), add up what it has, and sleep later.",
    think: "Contexts hide latency with other contexts, this program with other work. When is which better?",
  },
  {
    name: "enough-engines", title: "Enough engines", evening: 0, file: "npsim.toml",
    about: "A forwarder receives 64-byte frames at 3 Gb/s on one microengine. How many does it need?",
    task: "Only `id` in the project file changes, `\"0-2\"` for instance. Estimate first: packets in flight = rate times latency. Measure a run to see the latency.",
    think: "Little's law is the evening's one line of theory. What does a microengine too many cost?",
  },
  {
    name: "lost-additions", title: "Lost additions", evening: 1, file: "add.uc",
    about: "Sixteen contexts add 1 fifty times each. The sum is 50.",
    task: "Between the read and the write of one context the other fifteen read the same old value. A lock makes it right, but slow. The memory's controller can add by itself: `scratch[add]`, `scratch[incr]`.",
    think: "What can the controller do in one operation, and what not?",
  },
  {
    name: "short-lock", title: "Short lock", evening: 1, file: "record.uc",
    about: "Sixteen contexts keep a record of the longest frame. The lock is right, but held too long.",
    task: "Length and number have to match, so no single operation of the memory suffices. What is done under the lock that does not touch the record?",
    think: "Could most frames do without the lock?",
  },
  {
    name: "keep-order", title: "Keep order", evening: 2, file: "npsim.toml",
    about: "64 contexts run free, and every third packet overtakes another of its flow.",
    task: "Choose the design: the project file `extends` `contiguous.toml`; another file of `microcode/ordering` in its place is another design. Which keeps order at 3 Gb/s and loses nothing?",
    think: "Whose order matters: that of all packets, or of each flow?",
  },
  {
    name: "short-queue", title: "Short queue", evening: 2, file: "npsim.toml",
    about: "A queue is time: how long may it be?",
    task: "Change `QUEUE_LIMIT` in the project. A long queue loses nothing and makes all wait; a short one keeps the line idle.",
    think: "For how long does a full queue of your length keep a packet?",
  },
];

function exercise(it: Exercise): Lesson {
  const folder = `/microcode/course/${it.name}`;
  const target = `${folder}/npsim.toml`;
  const steps: Step[] = [
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
  ];
  return {
    id: it.name, title: it.title, about: `${it.about} *To think about:* ${it.think}`, group: EVENINGS[it.evening]!, chapter: `course-${it.evening + 1}`,
    exercise: target, open: { target, path: `${folder}/${it.file}`, traffic: { kind: "project" }, until: "" }, steps,
  };
}

export const course = EXERCISES.map(exercise);
