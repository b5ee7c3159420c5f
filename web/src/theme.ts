/** Light or dark: what the system prefers until the switch says otherwise. */

const KEY = "npsim-theme";

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function startTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    document.documentElement.dataset["theme"] = kept() ?? (dark.matches ? "dark" : "light");
    changed();
  };
  dark.addEventListener("change", show);
  show();
  return () => {
    const other = document.documentElement.dataset["theme"] === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, other);
    } catch {
      // Not kept: the switch holds until the page is left.
    }
    document.documentElement.dataset["theme"] = other;
    changed();
  };
}
