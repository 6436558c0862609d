// Passages that were found: where they stand, why, and what the reader thinks of them.

import { bdi, button, el, freshId } from "/ui/dom.js";
import { marks } from "/ui/feedback.js";
import { passage } from "/ui/passage.js";
import { openSource } from "/ui/viewer.js";
import { named, percent, place, t } from "/ui/words.js";

// A passage of more letters is folded until the reader asks for it.
const FOLDED = 420;
// Below this, recognised text is likely to have wrong letters.
const DOUBTFUL = 0.8;

/** One hit. `result` is the search that found it. */
export function hitItem(hit, result) {
  const id = freshId("hit");
  const text = passage(hit);
  const open = () =>
    openSource({ id: hit.document_id, title: hit.title, locator: hit.locator, quote: hit.content, version: hit.version });
  return el(
    "li",
    { value: hit.rank },
    el(
      "article",
      { class: "card hit", "aria-labelledby": id, "data-hit": hit.document_id },
      el("h3", { id }, button(bdi(hit.title), open, { class: "title", "data-do": "open" })),
      el(
        "p",
        { class: "where" },
        hit.section && hit.section !== hit.title ? [bdi(hit.section), " · "] : null,
        bdi(place(hit.locator), { "data-part": "place" }),
      ),
      hit.superseded ? superseded(hit.superseded) : null,
      typeof hit.confidence === "number" && hit.confidence < DOUBTFUL
        ? el("p", { class: "notice" }, t("hit.ocr", { share: percent(hit.confidence) }))
        : null,
      text,
      hit.content.length > FOLDED ? unfold(text) : null,
      el("div", { class: "actions" }, why(hit), marks({ result, hit })),
    ),
  );
}

function superseded(by) {
  return el(
    "p",
    { class: "notice" },
    by.title ? t("hit.superseded_by", { name: by.title }) : t("hit.superseded"),
    by.document_id
      ? button(t("hit.newer"), () => openSource({ id: by.document_id, title: by.title ?? "" }), { class: "small" })
      : null,
  );
}

function unfold(text) {
  text.classList.add("folded");
  const more = button(t("hit.whole"), () => {
    const folded = text.classList.toggle("folded");
    more.textContent = t(folded ? "hit.whole" : "hit.less");
    more.setAttribute("aria-expanded", String(!folded));
  }, { class: "small", "aria-expanded": "false" });
  return more;
}

function why(hit) {
  if (!hit.explanation.length) return null;
  return el(
    "details",
    { class: "why", "data-part": "why" },
    el("summary", {}, t("hit.why")),
    el(
      "dl",
      {},
      hit.explanation.map((step) => [el("dt", {}, named("stage", step.stage)), el("dd", { dir: "auto" }, step.text)]),
    ),
  );
}
