// What a browser keeps: the key for this tab alone, choices of language and colours for longer.

const PREFIX = "mafteach.";
const KEY = "mafteach.key";

/** A choice that was kept; null where there is none, or the browser keeps nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keep a choice, where the browser does. */
export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // A browser that keeps nothing shows its own choice again next time.
  }
}

let held = null;

/** The key of this tab; null without one. */
export function key() {
  if (held !== null) return held;
  try {
    held = sessionStorage.getItem(KEY);
  } catch {
    held = null;
  }
  return held;
}

/** Hold a key until the tab closes, or none from now on. */
export function holdKey(value) {
  held = value;
  try {
    if (value === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, value);
  } catch {
    // Held by this page alone then, until it is left.
  }
}
