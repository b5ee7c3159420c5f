/** A dialog with a title and a button to close it. */

import { h, iconButton } from "../dom";

export function dialog(title: string, body: HTMLElement[], foot: (close: () => void) => HTMLElement[] = () => []): HTMLDialogElement {
  const close = () => element.close();
  const buttons = foot(close);
  const element = h("dialog", { "aria-label": title },
    h("header", {}, h("h2", {}, title), iconButton("close", "Close", close)),
    h("div", { class: "body" }, ...body),
    ...(buttons.length > 0 ? [h("div", { class: "foot" }, ...buttons)] : []));
  element.addEventListener("close", () => element.remove());
  element.addEventListener("click", (event) => {
    if (event.target === element) close();
  });
  document.body.append(element);
  element.showModal();
  return element;
}
