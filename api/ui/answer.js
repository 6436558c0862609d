// An answer while it is written, and the sources behind it.

import { ask, read, takes, Trouble } from "/ui/api.js";
import { announce, bdi, button, directionOf, el, lines } from "/ui/dom.js";
import { freezeButton } from "/ui/evidence_review.js";
import { marks } from "/ui/feedback.js";
import { troublePanel, waiting } from "/ui/trouble.js";
import { openSource } from "/ui/viewer.js";
import { place, t } from "/ui/words.js";


/** A place for the answer to a question. `body` is what narrows it; `final` an answer that was given before. */
export function answerBox(question, body, { final = null, done = () => {} } = {}) {
  const said = el("div", {});
  const element = el(
    "section",
    { class: "card answer", "data-part": "answer", "aria-label": t("answer.title") },
    el("h2", {}, t("answer.title")),
    said,
  );
  let gone = new AbortController();

  async function begin() {
    gone = new AbortController();
    const draft = el("p", { class: "draft", dir: "auto" });
    said.replaceChildren(waiting(t("answer.writing"), cancel), draft);
    element.dataset.state = "writing";
    try {
      const sent = { question, filters: body.filters, stream: true };
      for (const name of ["without", "derived"]) {
        if (body[name]?.length && (await takes("AnswerBody", name))) sent[name] = body[name];
      }
      const response = await ask("POST", "/answer", { body: sent, signal: gone.signal });
      for await (const { name, data } of events(response)) {
        if (name === "delta") draft.append(data.text);
        else if (name === "sources") draft.replaceChildren();
        else if (name === "error") throw new Trouble("failed", data);
        else if (name === "done") return show(data);
      }
      throw new Trouble("offline");
    } catch (trouble) {
      if (!(trouble instanceof Trouble)) throw trouble;
      if (trouble.kind !== "cancelled") {
        element.dataset.state = "trouble";
        said.replaceChildren(troublePanel(trouble, () => void begin()));
      }
    }
    return undefined;
  }

  function cancel() {
    gone.abort();
    element.dataset.state = "cancelled";
    const again = button(t("answer.again"), () => void begin(), { class: "small" });
    said.replaceChildren(el("p", { class: "quiet" }, t("answer.cancelled")), again);
    again.focus();
  }

  function show(answer) {
    element.dataset.state = answer.refused ? "refused" : "done";
    said.replaceChildren(...(answer.refused ? [...refusal(answer), freezeButton(question, body, answer.answer)] : written(answer, question, body)));
    announce(t(answer.refused ? "answer.refused" : "answer.ready"));
    done(answer);
  }

  if (final) show(final);
  return { element, begin: () => (final ? undefined : void begin()), leave: () => gone.abort() };
}

/** The events of a stream, one after the other. */
async function* events(response) {
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    yield { name: "done", data: await read(response, "json") };
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      throw new Trouble(error.name === "AbortError" ? "cancelled" : "offline");
    }
    if (piece.done) return;
    held += piece.value;
    const whole = held.split("\n\n");
    held = whole.pop();
    for (const event of whole) {
      const [, name] = /^event: (.*)$/m.exec(event) ?? [];
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

function refusal(answer) {
  return [
    el("p", {}, t("answer.refused")),
    el("p", { class: "quiet" }, t("answer.nearest")),
    answer.explanation
      ? el("details", {}, el("summary", {}, t("trouble.technical")), el("p", { class: "technical" }, bdi(answer.explanation)))
      : null,
  ].filter(Boolean);
}

function written(answer, question, body) {
  const cited = new Map(answer.citations.map((one) => [one.index, one]));
  return [
    el("p", { class: "answer-text", dir: directionOf(answer.answer) }, answer.sentences.map((sentence) => shown(sentence, cited))),
    el("p", { class: "quiet" }, bdi(answer.label)),
    answer.grounded ? null : el("p", { class: "notice" }, t("answer.ungrounded")),
    answer.not_in_sources.length
      ? el("p", { class: "notice" }, t("answer.missing", { parts: answer.not_in_sources.join("; ") }))
      : null,
    el("p", { class: "quiet" }, t(`method.${answer.method}`, { name: answer.model ?? "" })),
    // An extractive answer's last note says its method once more.
    (answer.method === "extractive" ? answer.notes.slice(0, -1) : answer.notes).map((note) => el("p", { class: "quiet", dir: "auto" }, note)),
    el("h3", {}, t("answer.sources")),
    el("ol", { class: "citations" }, answer.citations.map(citation)),
    el("div", { class: "actions" }, freezeButton(question, body, answer.answer), marks({ result: answer.search, answer })),
  ].flat().filter(Boolean);
}

/** A sentence; its marks are buttons that open what they stand for. */
function shown(sentence, cited) {
  const text = sentence.text.replace(/(\s*\[\d+\])+\s*$/, "");
  return el(
    "span",
    { class: sentence.problems.length ? "sentence doubtful" : "sentence" },
    bdi(text),
    sentence.citations.map((index) =>
      button(`[${index}]`, () => open(cited.get(index)), {
        class: "mark", "aria-label": t("answer.open", { n: index }), "data-cite": index,
      }),
    ),
    sentence.problems.length ? el("span", { class: "quiet" }, ` (${t("answer.doubtful")})`) : null,
    " ",
  );
}

function citation(one) {
  return el(
    "li",
    { value: one.index },
    button(bdi(one.document_name), () => open(one), { class: "title", "data-cite": one.index }),
    " · ",
    bdi(place(one.locator) || one.locator_label, { class: "where", "data-part": "place" }),
    el("blockquote", {}, lines([{ text: one.quote, marked: false }])),
  );
}

function open(one) {
  openSource({ id: one.document_id, title: one.document_name, locator: one.locator, quote: one.quote, version: one.version });
}
