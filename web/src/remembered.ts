/** Small things that the browser keeps from visit to visit, where it keeps anything. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** In a window that keeps nothing it holds until the page is left. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is kept.
  }
}
