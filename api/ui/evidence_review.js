// What people write of evidence: a frozen answer, both verdicts with their reasons, changes of the claims, open notes.

import { askJson, can } from "/ui/api.js";
import { announce, button, el, freshId } from "/ui/dom.js";
import { troublePanel } from "/ui/trouble.js";
import { t } from "/ui/words.js";

export const CASES = "/evidence/cases";
export const VERDICTS = {
  attachment: ["attached", "missing", "points_nowhere"],
  support: ["supported", "partially_supported", "not_supported", "cannot_be_evaluated"],
};
const CAUSES = ["not_in_corpus", "not_retrieved", "retrieved_not_cited", "qualification_omitted", "cited_contradicts", "locator_elsewhere"];
export const PARTS = ["observation", "hypothesis", "next_check"];
// What was written and not saved yet, by claim: a view that is made anew has it again.
const drafts = new Map();

/** Forget what was not saved: another key may not see it. */
export function forgetDrafts() {
  drafts.clear();
}

/** A control with its label. */
export function field(label, control) {
  control.id = freshId("field");
  return el("div", { class: "field" }, el("label", { for: control.id }, label), control);
}

const area = (label, name, value = "") => field(label, el("textarea", { name, dir: "auto", rows: "2" }, value));
const fold = (title, props, ...parts) => el("details", props, el("summary", {}, title), parts);
const options = (codes, chosen, word) => codes.map((code) => el("option", { value: code, selected: chosen === code }, word(code)));

/** The form of one claim. */
export function decisionForm(row, { history, reviewer }, word, write) {
  const before = history.filter(({ decision: one }) => one.claim_id === row.claim_id && one.reviewer === reviewer).at(-1);
  const draft = drafts.get(row.claim_id) ?? { ...before?.decision.verdict, ...before?.decision.verdict.diagnosis };
  const said = el("div", { role: "alert" });
  let digit = 0;
  const choices = (name) => el("fieldset", {}, el("legend", {}, word(`field_${name}`)), VERDICTS[name].map((code) => el("label", { class: "check" },
    el("input", { type: "radio", name, value: code, checked: draft[name] === code }), word(code), " ", el("kbd", { "aria-hidden": "true" }, digit += 1))));
  const text = (name) => area(word(`field_${name}`), name, draft[name] ?? "");
  const missing = text("missing");
  const form = el(
    "form",
    { novalidate: true, on: { submit: save, input: () => {
      drafts.set(row.claim_id, values());
      uncover();
    } } },
    before ? el("p", { class: "quiet" }, t("review.again")) : null,
    choices("attachment"),
    text("attachment_reason"),
    choices("support"),
    text("support_reason"),
    missing,
    fold(t("review.diagnosis"), { open: Boolean(draft.cause) },
      field(word("field_cause"), el("select", { name: "cause" }, el("option", { value: "" }, "–"), options(CAUSES, draft.cause, word))), PARTS.map(text)),
    text("note"),
    said,
    el("button", { class: "primary", "data-do": "save" }, t("review.save")),
  );
  uncover();

  function values() {
    return Object.fromEntries(new FormData(form));
  }

  function uncover() {
    missing.hidden = values().support !== "cannot_be_evaluated";
  }

  function save(event) {
    event.preventDefault();
    const { cause, observation, hypothesis, next_check, note, ...given } = values();
    const diagnosis = cause ? { cause, observation, hypothesis, next_check } : null;
    if (missing.hidden) delete given.missing;
    const needed = { attachment: "", support: "", ...given, ...diagnosis };
    const lacking = Object.keys(needed).find((name) => !needed[name].trim());
    if (lacking) {
      said.replaceChildren(el("p", { class: "notice bad", "data-part": "lacking" }, t("review.lacking", { name: word(`field_${lacking}`) })));
      form.querySelector(`[name=${lacking}]`).focus();
      return;
    }
    void tried(said, async () => {
      const verdict = { ...given, diagnosis, note: note.trim() || null };
      await write("decisions", { claim_id: row.claim_id, verdict, supersedes: before?.decision_id ?? null }, true);
      drafts.delete(row.claim_id);
    });
  }

  return form;
}

/** Splitting, joining and marking: each a new revision, which supersedes the decisions on the claims that it touches. */
export function claimsEditor({ claims: all }, current, word, write) {
  const said = el("div", {});
  const cut = el("select", {});
  const why = el("input", { dir: "auto" });
  const chosen = el("select", { on: { change: refill } }, all.map((one, place) => el("option", { value: place, selected: one.claim_id === current }, one.text)));
  const claim = (further = 0) => all[Number(chosen.value) + further];
  const act = (operation, more) => button(word(operation), () => void tried(said, () =>
    write("claims", { operation, claim_id: claim().claim_id, ...more() })), { class: "small", "data-edit": operation });
  const reason = () => ({ reason: why.value });
  const actions = [act("split", () => ({ at_word: cut.value })), act("merge", () => ({ other_claim_id: claim(1).claim_id })),
    act("immaterial", reason), act("material", reason)];

  /** Where the claim may be cut: before each word, by a text that stands in it once. */
  function refill() {
    const { text, material } = claim();
    const ends = [...text.matchAll(/\s(?=\S)/g)].map((found) => text.slice(found.index + 1));
    cut.replaceChildren(...ends.filter((end) => text.indexOf(end) === text.lastIndexOf(end)).map((end) => el("option", {}, end)));
    actions[0].disabled = !cut.value;
    actions[1].disabled = !claim(1);
    actions[2].hidden = !material;
    actions[3].hidden = material;
  }

  refill();
  return fold(t("claims.title"), { class: "panel", "data-part": "editor" }, el("p", { class: "quiet" }, t("claims.help")),
    field(t("claims.which"), chosen), field(t("claims.cut"), cut), field(t("claims.why"), why), el("div", { class: "actions" }, actions), said);
}

/** A note on the whole case. */
export function noteForm(word, write) {
  const said = el("div", {});
  const form = el("form", { class: "panel", on: { submit: (event) => {
    event.preventDefault();
    void tried(said, () => write("notes", { text: new FormData(form).get("case_note") }));
  } } }, area(word("field_note"), "case_note"), el("button", { class: "small" }, t("review.add")), said);
  return form;
}

/** Do something; what goes wrong is told in a place. */
export async function tried(place, work) {
  place.replaceChildren();
  try {
    await work();
  } catch (trouble) {
    place.append(...[troublePanel(trouble)].filter(Boolean));
  }
}

/** A button that freezes the answer that is shown, or without one what the question is answered now. */
export function freezeButton(question, { filters = {}, without = [] }, shown) {
  const told = el("span", {});
  const freeze = button(t("freeze.do"), () => void tried(told, async () => {
    const { case_id: id } = await askJson("POST", CASES, { body: { question, filters, without, shown } });
    const link = el("a", { href: `#/evidence?case=${id}`, "data-do": "case" }, t("freeze.open"));
    place.replaceChildren(t("freeze.done"), " ", link);
    announce(t("freeze.done"));
    link.focus();
  }), { class: "small", "data-do": "freeze" });
  const place = el("div", { class: "actions", hidden: true }, freeze, told);
  void can("post", CASES).then((there) => {
    place.hidden = !there;
  });
  return place;
}
