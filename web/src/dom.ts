/** Elements made in one call: `h("button", { class: "step", onclick }, "Step")`. */

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, props);
  element.append(...kept(children));
  return element;
}

function apply(element: HTMLElement, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (name === "class") element.className = String(value);
    else if (name === "value" && "value" in element) {
      (element as HTMLInputElement).value = String(value);
    } else if (name === "checked") (element as HTMLInputElement).checked = true;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function kept(children: (Child | Child[])[]): (Node | string)[] {
  return children
    .flat()
    .filter((it): it is Node | string | number => it !== null && it !== undefined && it !== false)
    .map((it) => (typeof it === "number" ? String(it) : it));
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(...kept(children));
}

/** The element of the page with this id, which its template has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

const SVG = "http://www.w3.org/2000/svg";

/** Icons as paths in a square of 16. */
const PATHS = {
  play: "M4 2.5v11l9-5.5z",
  playBack: "M12 2.5v11L3 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  step: "M3 3v10l7-5zM11 3h2v10h-2z",
  stepBack: "M13 3v10L6 8zM3 3h2v10H3z",
  start: "M2 3h2v10H2zM9 3v10L4.500 8zM14 3v10L9.500 8z",
  end: "M12 3h2v10h-2zM2 3v10l4.500-5zM7 3v10l4.500-5z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7.300 1h1.400v2H7.300zM7.300 13h1.400v2H7.300zM1 7.300h2v1.400H1zM13 7.300h2v1.400h-2zM2.600 3.600l1-1 1.400 1.400-1 1zM11 12l1-1 1.400 1.400-1 1zM2.600 12.400l1.400-1.400 1 1-1.400 1.400zM11 4l1.400-1.400 1 1L12 5z",
  moon: "M6.200 1.600a6.600 6.600 0 1 0 8.200 8.200A5.400 5.400 0 0 1 6.200 1.600z",
  help: "M8 1.200a6.800 6.800 0 1 0 0 13.600A6.800 6.800 0 0 0 8 1.200zm0 1.500a5.300 5.300 0 1 1 0 10.600A5.300 5.300 0 0 1 8 2.700zM7.200 10.400h1.600V12H7.200zM5.400 6.300c0-1.500 1.100-2.500 2.600-2.500s2.600.900 2.600 2.300c0 1.700-1.800 1.900-1.800 3.200H7.200c0-2.100 1.700-2.200 1.700-3.100 0-.600-.400-.900-.900-.900-.600 0-1 .400-1 1z",
  menu: "M2 3.500h12V5H2zM2 7.300h12v1.400H2zM2 11h12v1.500H2z",
  panel: "M1.500 2.500h13v11h-13zm1.500 1.500v8h6V4z",
  close: "M3.500 2.400 8 6.900l4.500-4.500 1.100 1.100L9.100 8l4.500 4.500-1.100 1.100L8 9.100l-4.500 4.500-1.100-1.100L6.900 8 2.400 3.500z",
  share: "M9 1.500h5.500V7L12.300 4.800 7.500 9.600 6.400 8.500l4.800-4.800zM2 4h5v1.500H3.500v7h7V9H12v5H2z",
  tick: "M6.300 12.300 2.300 8.300l1.200-1.200 2.800 2.800 6.200-6.200 1.200 1.200z",
  folder: "M1.500 3h5l1.500 1.700h6.500v8.300h-13z",
  file: "M3.500 1.500h6l3 3v10h-9z",
  add: "M7.200 3h1.600v4.200H13v1.600H8.800V13H7.200V8.800H3V7.200h4.200z",
  down: "M7.200 2h1.600v6.200l2.500-2.500 1.100 1.100L8 11.200 3.600 6.800l1.100-1.100 2.500 2.500zM2.500 12.500h11V14h-11z",
  chevron: "M6 3.500 10.500 8 6 12.500 4.900 11.400 8.300 8 4.900 4.600z",
  below: "M3.500 5 8 9.500 12.500 5l1.100 1.100L8 11.700 2.400 6.100z",
  traffic: "M1 4.200h9.200L8 2l1-1 4 4-4 4-1-1 2.200-2.200H1zM15 11.800H5.800L8 14l-1 1-4-4 4-4 1 1-2.200 2.200H15z",
} as const;

export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  path.setAttribute("fill", "currentColor");
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

/** A button with an icon, whose label is read out by screen readers and shown as a tooltip. */
export function iconButton(name: Icon, label: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...props }, icon(name));
}
