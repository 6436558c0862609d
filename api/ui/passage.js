// A passage with its matched words marked, as text.

import { el, lines } from "/ui/dom.js";

const OPEN = "<em>";
const CLOSE = "</em>";

/** Pieces of a passage, marked and not; null where the marks do not belong to it. The service puts its two marks into
 * the passage as it stands, and the passage may hold the same letters itself: both are read side by side. */
export function pieces(content, marked) {
  const found = [];
  let at = 0;
  let inside = false;
  let text = "";
  for (let place = 0; place < marked.length; ) {
    const tag = inside ? CLOSE : OPEN;
    // Within a mark its end comes first; outside, what the passage itself holds.
    const own = !inside && content.startsWith(tag, at);
    if (marked.startsWith(tag, place) && !own) {
      found.push({ text, marked: inside });
      text = "";
      inside = !inside;
      place += tag.length;
    } else if (marked[place] === content[at]) {
      text += marked[place];
      place += 1;
      at += 1;
    } else {
      return null;
    }
  }
  found.push({ text, marked: inside });
  return at === content.length ? found.filter((piece) => piece.text) : null;
}

/** The passage of a hit. */
export function passage(hit) {
  const parts = (hit.highlights[0] && pieces(hit.content, hit.highlights[0])) || [{ text: hit.content, marked: false }];
  return el(
    "p",
    { class: "passage", lang: hit.language === "he" || hit.language === "en" ? hit.language : null },
    lines(parts),
  );
}
