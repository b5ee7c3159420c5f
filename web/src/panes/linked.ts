/** Sentences of the debugger, whose places and cycles lead there. */

import { h } from "../dom";

export interface Ways {
  place: (path: string, line: number) => void;
  cycle: (cycle: number) => void;
}

export function linked(text: string, ways: Ways): (Node | string)[] {
  return text.split(/((?:\/?[\w-]+\/)*[\w-]+\.uc:\d+|cycle [\d,]+)/).map((part) => {
    const place = /^(.+\.uc):(\d+)$/.exec(part);
    if (place) return link(part, () => ways.place(place[1]!.startsWith("/") ? place[1]! : `/${place[1]}`, Number(place[2])));
    const cycle = /^cycle ([\d,]+)$/.exec(part);
    if (cycle) return link(part, () => ways.cycle(Number(cycle[1]!.replaceAll(",", ""))));
    return part;
  });
}

const link = (text: string, onclick: () => void) => h("button", { type: "button", class: "link mono", onclick }, text);
