/** Sentences of the debugger, with links to the places and cycles in them. */

import { h } from "../dom";
import type { Lab } from "../lab";
import { ticked } from "../markdown";
import { nameOf } from "../project/files";
import { withTimes } from "../state";

export function linked(text: string, lab: Lab, go: (path: string, line: number) => void): (Node | string)[] {
  return withTimes(text).split(/((?:\/?[\w-]+\/)*[\w-]+\.uc:\d+(?::\d+)?|cycle \d+(?:,\d{3})*)/).flatMap((part) => {
    const place = /^(.+\.uc):(\d+)(?::\d+)?$/.exec(part);
    if (place) return link(`${nameOf(place[1]!)}:${place[2]}`, () => go(place[1]!.startsWith("/") ? place[1]! : `/${place[1]}`, Number(place[2])));
    const cycle = /^cycle ([\d,]+)$/.exec(part);
    if (cycle) return link(part, () => void lab.seek(Number(cycle[1]!.replaceAll(",", ""))));
    return ticked(part);
  });
}

const link = (text: string, onclick: () => void) => h("button", { type: "button", class: "link mono", onclick }, text);
