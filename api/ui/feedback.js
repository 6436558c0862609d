// What the reader thinks of a passage or an answer, told to the service; not offered where it takes none.

import { askJson, can } from "/ui/api.js";
import { announce, button, el } from "/ui/dom.js";
import { troublePanel } from "/ui/trouble.js";
import { t } from "/ui/words.js";

const ROUTE = "/feedback";

/** Buttons for a hit or an answer of a search; an empty place where the service takes no feedback. */
export function marks({ result, hit = null, answer = null }) {
  const place = el("span", { class: "marks", role: "group", "aria-label": t(hit ? "feedback.passage" : "feedback.answer") });
  void can("post", ROUTE).then((there) => {
    if (!there) return;
    const said = el("span", { class: "quiet", role: "status" });
    const choices = hit ? ["right", "wrong", "picked"] : ["right", "wrong"];
    const buttons = choices.map((verdict) =>
      button(t(`feedback.${verdict}`), () => void mark(verdict), { class: "small", "aria-pressed": "false", "data-mark": verdict }),
    );
    place.append(...buttons, said);

    async function mark(verdict) {
      try {
        await askJson("POST", ROUTE, { body: body(verdict, result, hit, answer) });
        for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.mark === verdict));
        said.textContent = t("feedback.thanks");
        announce(t("feedback.thanks"));
      } catch (trouble) {
        said.replaceChildren(...[troublePanel(trouble)].filter(Boolean));
      }
    }
  });
  return place;
}

function body(verdict, result, hit, answer) {
  if (hit) {
    return { query: result.query, verdict, chunk_id: hit.chunk_id, document_id: hit.document_id, content_hash: hit.content_hash };
  }
  return { query: answer.question, verdict, answer: answer.answer };
}
