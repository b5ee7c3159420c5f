/** The introduction on a first visit: two lines and the first lesson. Once closed, it does not come back. */

import { h, iconButton } from "../dom";
import { recall, remember } from "../remembered";

const KEY = "npsim-welcomed";

export function welcome(lesson: () => void, words: () => void): HTMLElement | null {
  if (recall(KEY) !== null) return null;
  const close = () => {
    element.remove();
    remember(KEY, "");
  };
  const element = h("section", { class: "welcome", "aria-label": "Welcome" },
    h("p", {},
      h("strong", {}, "npsim is a network processor in your browser."),
      h("span", {}, "Its microengines run the program in the editor and move packets from port to port. Run it, change it, step back in time.")),
    h("div", { class: "welcome-acts" },
      h("button", { type: "button", class: "primary", onclick: () => { close(); lesson(); } }, "Start the first lesson"),
      h("button", { type: "button", onclick: words }, "What the words mean"),
      iconButton("close", "Close the welcome", close)));
  return element;
}
