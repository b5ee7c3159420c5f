/** The incoming traffic: the project's own load, one set by sliders, or a capture. */

import { h } from "../dom";
import type { Traffic } from "../engine/protocol";
import type { Lab } from "../lab";
import { isCapture, nameOf } from "../project/files";
import { choose, take } from "../project/intake";
import { dialog } from "./dialog";

/** A fraction of the line rate in per cent; any other rate as it is written. */
const rateText = (rate: unknown) => (Number.isFinite(Number(rate)) ? `${+(Number(rate) * 100).toFixed(1)}%` : String(rate));
const sizeText = (size: unknown) => (size === "imix" ? "mixed" : `${size} bytes`);

export function trafficText(traffic: Traffic): string {
  if (traffic.kind === "project") return "as the project says";
  if (traffic.kind === "none") return "no traffic";
  if (traffic.kind === "capture") return `${nameOf(traffic.path)}, ${PACES[traffic.pace ?? "trace"] ?? `at ${traffic.pace}`}`;
  const { rate, size } = traffic.load;
  const sizes = size === undefined ? "" : size === "imix" ? ", mixed sizes" : `, ${sizeText(size)}`;
  return `${rate === undefined ? "generated" : `${rateText(rate)} of the line`}${sizes}`;
}

const PACES: Record<string, string> = { line: "back to back", trace: "as captured", "trace*10": "ten times as fast" };
const SIZES = ["64", "128", "256", "512", "1024", "1518", "imix"];
const SHORT = ["20us", "50us", "100us", "200us", "500us", "1ms", "2ms", "5ms", "10ms"];

export function trafficDialog(lab: Lab): void {
  const { traffic, until, opened } = lab.store.value;
  let kind: Traffic["kind"] = traffic.kind;
  // Keys that replace the project's own, and the resulting load.
  const load: Record<string, string | number> = traffic.kind === "load" ? { ...traffic.load } : {};
  const now: Record<string, unknown> = { rate: "0.5", size: "64", arrivals: "constant", flows: 120, ...opened?.load, ...load };
  let capture = traffic.kind === "capture" ? traffic.path : "/traces/mixed.pcap";
  let pace = traffic.kind === "capture" ? (traffic.pace ?? "trace") : "line";
  let end = traffic.kind === "load" ? String(now["time"] ?? until) : until;
  const endBefore = end;

  const choice = (value: Traffic["kind"], title: string, about: string, more?: HTMLElement) => {
    const radio = h("input", { type: "radio", name: "traffic", id: `traffic-${value}`, value, checked: kind === value, onchange: () => { kind = value; } });
    return h("div", { class: "choice" }, radio, h("label", { for: `traffic-${value}` }, h("strong", {}, title), h("span", { class: "soft" }, ` ${about}`)), more ? h("div", { oninput: () => { radio.checked = true; kind = value; } }, more) : null);
  };
  /** A value between the slider's steps is shown as it is, and stays until the slider is moved. */
  const slider = (label: string, least: number, most: number, at: number, shown: string, text: (n: number) => string, set: (n: number) => void) => {
    const id = `slide-${label.replaceAll(" ", "-")}`;
    const output = h("output", { for: id }, shown);
    const input = h("input", { type: "range", id, min: least, max: most, step: 1, value: at });
    input.addEventListener("input", () => {
      set(Number(input.value));
      output.textContent = text(Number(input.value));
    });
    return [h("label", { for: id }, label), input, output];
  };
  const arrivals = h("select", { id: "arrivals", onchange: () => { load["arrivals"] = arrivals.value; } },
    h("option", { value: "poisson" }, "at random (Poisson)"), h("option", { value: "constant" }, "evenly spaced"), h("option", { value: "bursts" }, "in bursts"));
  arrivals.value = String(now["arrivals"]);
  const sliders = h("div", { class: "sliders" },
    ...slider("Rate of each line", 1, 100, Math.round(Number(now["rate"]) * 100) || 50, rateText(now["rate"]), (n) => `${n}%`, (n) => { load["rate"] = String(n / 100); }),
    ...slider("Frame size", 0, SIZES.length - 1, Math.max(0, SIZES.indexOf(String(now["size"]))), sizeText(now["size"]), (n) => sizeText(SIZES[n]), (n) => { load["size"] = SIZES[n]!; }),
    ...slider("Flows", 0, 12, Math.round(Math.log2(Number(now["flows"]) || 1)), String(now["flows"]), (n) => String(2 ** n), (n) => { load["flows"] = 2 ** n; }),
    h("label", { for: "arrivals" }, "Arrivals"), arrivals);

  const captures = h("select", { "aria-label": "Capture", onchange: () => { capture = captures.value; } });
  const listCaptures = () => {
    captures.replaceChildren(...lab.files.paths().filter(isCapture).map((it) => h("option", { value: it }, `${nameOf(it)}${it.startsWith("/own/") ? " (yours)" : ""}`)));
    captures.value = capture;
  };
  listCaptures();
  const paces = h("select", { "aria-label": "Pace", onchange: () => { pace = paces.value; } },
    ...Object.entries(PACES).map(([value, text]) => h("option", { value }, text)));
  paces.value = pace;
  const own = h("button", {
    type: "button",
    onclick: async () => {
      try {
        const taken = await take(lab.files, await choose(false, ".pcap,.pcapng,.erf,.cap,.gz"));
        if (taken.captures[0]) {
          capture = taken.captures[0];
          kind = "capture";
          (element.querySelector("#traffic-capture") as HTMLInputElement).checked = true;
        }
        listCaptures();
      } catch (error) {
        lab.complain(error instanceof Error ? error.message : String(error));
        element.close();
      }
    },
  }, "A capture of yours");
  const ends = h("select", { id: "until", onchange: () => { end = ends.value; } },
    ...SHORT.map((it) => h("option", { value: it }, it.replace("us", " µs").replace("ms", " ms"))), h("option", { value: "" }, "until all has gone through"));
  if (![...SHORT, ""].includes(end)) ends.prepend(h("option", { value: end }, end));
  ends.value = end;

  const element = dialog("Traffic", [
    choice("project", "As the project says", "its [load], if it has one"),
    choice("load", "Generated", "frames on every port", sliders),
    choice("capture", "From a capture", "pcap, pcapng or ERF, also gzip", h("div", { style: "display:flex; gap:6px; flex-wrap:wrap; margin-top:6px" }, captures, paces, own)),
    choice("none", "None", "the program alone"),
    h("div", { style: "display:flex; gap:10px; align-items:center; border-top:1px solid var(--rule); padding-top:12px" }, h("label", { for: "until" }, "The traffic or the run lasts"), ends),
  ], (close) => [
    h("button", { type: "button", onclick: close }, "Cancel"),
    h("button", {
      type: "button", class: "primary",
      onclick: () => {
        close();
        // Frames are generated for that time, and the run ends when all have gone through.
        if (kind === "load") {
          if (opened?.load["rate"] === undefined) load["rate"] ??= "0.5";
          if (traffic.kind !== "load" || end !== endBefore) load["time"] = end || "2ms";
        }
        const chosen: Traffic = kind === "load" ? { kind, load } : kind === "capture" ? { ...(traffic.kind === kind && traffic.path === capture ? traffic : { kind, path: capture }), pace } : { kind };
        const wanted = { traffic: chosen, until: kind === "load" ? "" : end };
        const before = { traffic: kind === "capture" && traffic.kind === kind ? { ...traffic, pace: traffic.pace ?? "trace" } : traffic, until };
        if (JSON.stringify(wanted) !== JSON.stringify(before)) void lab.reopen(wanted);
      },
    }, "Use this traffic"),
  ]);
}
