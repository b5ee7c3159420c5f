/** Small values that the browser keeps from visit to visit, if it keeps anything. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** If the browser keeps nothing, the choice holds only until the page is left. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is kept.
  }
}
