// Elements made by code. Text becomes text nodes and nothing else, so that no document can bring markup along.

/** Make an element: `on` holds listeners, `class` the classes; null children and attributes are left out. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Text of people, isolated: its direction is its own, and turns nothing around it. */
export function bdi(text, props = {}) {
  return el("bdi", { dir: "auto", ...props }, text ?? "");
}

/** A button that submits nothing. */
export function button(text, click, props = {}) {
  return el("button", { type: "button", ...props, on: { click } }, text);
}

/** Say something to who listens instead of looking. */
export function announce(text) {
  document.getElementById("live").textContent = text;
}

/** Put the focus on a place that is no control: a heading after a change of view. */
export function focusOn(element) {
  if (!element) return;
  element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: false });
}

const STRONG = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\p{L}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The direction of a text by its first letter; `dir="auto"` does not look into isolated parts. */
export function directionOf(text) {
  const [letter] = STRONG.exec(text) ?? [];
  return letter === undefined ? null : RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

/** Text in lines, each of its own direction; `pieces` are `{ text, marked }`. Every line is a block: browsers that read
 * several paragraphs in one block (`unicode-bidi: plaintext`) turn brackets of all but the first. `mark` has the
 * attributes of what is marked; where `marked` is a text, that is its class. */
export function lines(pieces, mark = {}) {
  const made = [el("span", { class: "line", dir: "auto" })];
  for (const piece of pieces) {
    piece.text.split("\n").forEach((text, place) => {
      if (place) made.push(el("span", { class: "line", dir: "auto" }));
      if (text) made.at(-1).append(piece.marked ? el("mark", piece.marked === true ? mark : { class: piece.marked }, text) : text);
    });
  }
  return made;
}

let numbered = 0;

/** An id for a label and what it labels. */
export function freshId(name) {
  numbered += 1;
  return `${name}-${numbered}`;
}

const NOT_BASIC = /[\ud800-\udfff]/;

/** Where a code point stands in a string of UTF-16 units: locators count as Python does. */
export function unitAt(text, point) {
  if (!NOT_BASIC.test(text)) return Math.min(point, text.length);
  let unit = 0;
  for (let count = 0; count < point && unit < text.length; count += 1) {
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  return unit;
}
