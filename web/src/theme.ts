/** Light or dark: what the system prefers until the switch says otherwise. */

import { icon, iconButton } from "./dom";
import { recall, remember } from "./remembered";

const KEY = "npsim-theme";

/** The switch, which shows the theme that it switches to. */
export function startTheme(changed: () => void): HTMLButtonElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = iconButton("sun", "", () => {
    const other = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
    remember(KEY, other);
    wear(other);
  });
  const wear = (theme: string) => {
    document.documentElement.dataset["theme"] = theme;
    const [name, label] = theme === "dark" ? ["sun", "Light colours"] as const : ["moon", "Dark colours"] as const;
    button.replaceChildren(icon(name));
    button.title = label;
    button.setAttribute("aria-label", label);
    changed();
  };
  const show = () => wear(recall(KEY) ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", show);
  show();
  return button;
}
