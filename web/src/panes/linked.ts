/** Sentences of the debugger, whose places and cycles lead there. */

import { h } from "../dom";
import { nameOf } from "../project/files";

export interface Ways {
  place: (path: string, line: number) => void;
  cycle: (cycle: number) => void;
}

export function linked(text: string, ways: Ways): (Node | string)[] {
  return text.split(/((?:\/?[\w-]+\/)*[\w-]+\.uc:\d+(?::\d+)?|cycle \d+(?:,\d{3})*)/).flatMap((part) => {
    const place = /^(.+\.uc):(\d+)(?::\d+)?$/.exec(part);
    if (place) return link(`${nameOf(place[1]!)}:${place[2]}`, () => ways.place(place[1]!.startsWith("/") ? place[1]! : `/${place[1]}`, Number(place[2])));
    const cycle = /^cycle ([\d,]+)$/.exec(part);
    if (cycle) return link(part, () => ways.cycle(Number(cycle[1]!.replaceAll(",", ""))));
    return part.split("`").map((it, at) => (at % 2 === 1 ? h("code", {}, it) : it));
  });
}

const link = (text: string, onclick: () => void) => h("button", { type: "button", class: "link mono", onclick }, text);
