// What the reader thinks of a passage or an answer, told to the service; not offered where it takes none.

import { ask, askJson, can } from "/ui/api.js";
import { announce, button, el } from "/ui/dom.js";
import { troublePanel } from "/ui/trouble.js";
import { t } from "/ui/words.js";

const ROUTE = "/feedback";

/** Buttons for a hit or an answer of a search; an empty place where the service takes no feedback. */
export function marks({ result, hit = null, answer = null }) {
  const place = el("div", { class: "marks", role: "group", "aria-label": t(hit ? "feedback.passage" : "feedback.answer") });
  void can("post", ROUTE).then((there) => {
    if (!there) return;
    const said = el("span", { class: "quiet", role: "status" });
    const choices = hit ? ["right", "wrong", "picked"] : ["right", "wrong"];
    const buttons = choices.map((verdict) =>
      button(t(`feedback.${verdict}`), () => void mark(verdict), { class: "small", "aria-pressed": "false", "data-mark": verdict }),
    );
    place.append(...buttons, said);
    let made = null;

    async function mark(verdict) {
      for (const one of buttons) one.disabled = true;
      try {
        made = await askJson("POST", ROUTE, { body: bodyOf(verdict, result, hit, answer) });
        pressed(verdict);
        const undo = button(t("feedback.undo"), () => void takeBack(), { class: "small", "data-do": "undo-mark" });
        said.replaceChildren(t("feedback.thanks"), " ", undo);
        announce(t("feedback.thanks"));
      } catch (trouble) {
        said.replaceChildren(...[troublePanel(trouble)].filter(Boolean));
      }
      for (const one of buttons) one.disabled = false;
      buttons[choices.indexOf(verdict)].focus();
    }

    async function takeBack() {
      try {
        await ask("DELETE", `${ROUTE}/${encodeURIComponent(made.id)}`);
        pressed(null);
        said.replaceChildren(t("feedback.undone"));
        buttons[0].focus();
      } catch (trouble) {
        said.replaceChildren(...[troublePanel(trouble)].filter(Boolean));
      }
    }

    function pressed(verdict) {
      for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.mark === verdict));
    }
  });
  return place;
}

function bodyOf(verdict, result, hit, answer) {
  const passage = (one) => ({
    document_id: one.document_id, content_hash: one.content_hash, chunk_id: one.chunk_id, locator: one.locator,
  });
  if (hit) return { query: result.query, kind: "passage", verdict, passages: [passage(hit)] };
  return {
    query: answer.question, kind: "answer", verdict, refused: answer.refused, passages: answer.citations.map(passage),
  };
}
