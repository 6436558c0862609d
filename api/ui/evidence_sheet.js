// A case's sheet: limits first, each claim beside what it cites, disagreement before any count, history at the end.

import { ask, askJson, saveAs } from "/ui/api.js";
import { announce, bdi, button, directionOf, el, lines, unitAt } from "/ui/dom.js";
import { reviewed } from "/ui/evidence.js";
import { CASES, claimsEditor, decisionForm, noteForm, PARTS, tried, VERDICTS } from "/ui/evidence_review.js";
import { troublePanel, waiting } from "/ui/trouble.js";
import { openSource } from "/ui/viewer.js";
import { language, moment, otherLanguage, place, t } from "/ui/words.js";

// Numbers but those of marks [n], and what is quoted; the mark within a Hebrew abbreviation opens nothing.
const TOKEN = /(?<!\[)\b\d+(?:[.,:/]\d+)*(?!\])|(?<![\p{L}\d])["“„][^"“”„\n]{2,80}["”“](?![\p{L}\d])/gu;
const FILES = { zip: "/pack", xlsx: "/sheet?format=xlsx", csv: "/sheet?format=csv" };
// What keys do at a claim; letters by their place, so that a Hebrew layout has them too. Digits choose verdicts.
const KEYS = { J: "next", K: "before", R: "reasons", D: "diagnosis", O: "source", H: "help" };
const CODES = Object.values(VERDICTS).flat();

const say = (kind, ...parts) => el("p", { class: kind }, parts);
const pairs = (rows) => el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
const fold = (part, title, ...parts) => el("details", { class: "panel", "data-part": part }, el("summary", {}, title), parts);
const panel = (part, title, ...parts) => el("section", { class: "panel", "data-part": part }, el("h2", {}, title), parts);

/** The view of one case. */
export function sheetView(id) {
  const gone = new AbortController();
  const path = `${CASES}/${encodeURIComponent(id)}`;
  const body = el("div", {});
  let sheet = null;
  let current = null;

  async function load() {
    sheet = await askJson("GET", path, { signal: gone.signal });
  }

  async function begin() {
    body.replaceChildren(waiting(t("evidence.loading"), () => gone.abort()));
    try {
      await load();
      document.title = `${sheet.case.query} · ${t("brand")}`;
      current = (sheet.rows.find((row) => !row.decisions.length) ?? sheet.rows[0])?.claim_id;
      show();
    } catch (trouble) {
      const none = el("div", { class: "panel", role: "alert", "data-trouble": "missing" }, el("h1", {}, t("sheet.none")), say("", t("sheet.none_text")));
      body.replaceChildren(...[trouble.kind === "missing" ? none : troublePanel(trouble, () => void begin())].filter(Boolean));
    }
  }

  /** Write something, read the sheet anew, and go on: at the next open claim, or where it was. */
  async function write(part, sent, onwards) {
    await askJson("POST", `${path}/${part}`, { body: sent });
    const at = sheet.rows.findIndex((row) => row.claim_id === current);
    await load();
    const open = (row) => !row.decisions.some((one) => one.reviewer === sheet.reviewer);
    const next = onwards && (sheet.rows.find((row, place) => place > at && open(row)) ?? sheet.rows.find(open));
    current = (next || sheet.rows.find((row) => row.claim_id === current) || sheet.rows[0])?.claim_id;
    show();
    go(current);
    announce(t("sheet.saved"));
  }

  const word = (code) => sheet.words[language()][code].name;
  const meaning = (code) => sheet.words[language()][code].meaning;
  const textOf = (claim) => bdi(sheet.texts[claim]);
  const by = (who, at) => say("where", bdi(who), " · ", moment(at));

  function show() {
    const { case: frozen, claims, limits, may_review: mayReview, rows, summary } = sheet;
    const open = [...frozen.not_in_sources, ...(frozen.expected?.unanswerable ?? [])];
    body.replaceChildren(...[
      el("h1", {}, bdi(frozen.query)),
      el("section", { class: "notice beside", "data-part": "limits" }, [language(), otherLanguage()].map((name) => el("div", { lang: name, dir: name === "he" ? "rtl" : "ltr" },
        el("h2", {}, limits[name][0]), el("ul", {}, limits[name].slice(1).map((line) => el("li", {}, line)))))),
      by(frozen.owner, frozen.answered_at),
      el("section", { class: "card answer" }, el("h2", {}, t(frozen.outcome === "refusal" ? "case.miss" : "answer.title")),
        el("p", { class: "answer-text", dir: directionOf(frozen.answer) }, bdi(frozen.answer)), say("quiet", bdi(frozen.label), " ", bdi(frozen.reason)),
        open.length ? say("notice", t("answer.missing", { parts: open.join("; ") })) : null),
      mayReview ? null : el("p", { class: "notice", "data-part": "readonly" }, t("sheet.readonly")),
      ...(claims ? [disagreements(), counts(), help()] : summary.state === "miss" ? [] : [unsplit(mayReview)]),
      el("div", { on: { keydown: pressed } }, rows.map(card)),
      ...(mayReview ? [claims && claimsEditor(claims, current, word, write), noteForm(word, write)] : []),
      history(),
      saving(),
    ].filter(Boolean));
  }

  function unsplit(mayReview) {
    const said = el("div", {});
    const rules = button(t("sheet.split"), () => void tried(said, () => write("claims", { operation: "rules" })), { class: "primary", "data-do": "rules" });
    return el("div", { class: "panel" }, say("", t("sheet.unsplit")), mayReview ? rules : null, said);
  }

  function disagreements() {
    const said = (all) => Object.entries(all).map(([who, code]) => el("li", {}, bdi(who), ": ", word(code)));
    return sheet.disagreements.length ? panel("disagreements", t("sheet.disagreements"),
      sheet.disagreements.map((one) => [say("", textOf(one.claim_id)), el("ul", {}, said(one.attachment), said(one.support))])) : null;
  }

  function counts() {
    const all = sheet.summary.counts;
    return panel("counts", t("sheet.counts"), say("", reviewed(all)),
      pairs([...VERDICTS.support.map((code) => [word(code), all.by_verdict[code]]), [t("case.open"), all.undecided], [t("case.disagreed"), all.disagreed]]));
  }

  function help() {
    const keys = { J: t("page.after"), K: t("page.before"), "1–3": word("field_attachment"), "4–7": word("field_support"), R: word("field_attachment_reason"),
      D: t("review.diagnosis"), O: t("answer.open", { n: 1 }), "Ctrl+Enter": t("review.save"), Esc: t("keys.back"), H: t("keys.title") };
    return fold("help", t("keys.title"), say("quiet", t("keys.when")), pairs(Object.entries(keys).map(([key, does]) => [el("kbd", { dir: "ltr" }, key), does])),
      pairs(CODES.map((code) => [word(code), meaning(code)])));
  }

  function card(row) {
    const differ = sheet.disagreements.some((one) => one.claim_id === row.claim_id);
    const state = differ ? "disagreed" : row.decisions.length ? "done" : "open";
    const here = row.claim_id === current;
    const held = row.sources.flatMap((one) => one.passage_text?.match(TOKEN) ?? []);
    const claim = marked(row.claim_text, spansOf(row.claim_text, (token) => (held.includes(token) ? "held" : "absent")));
    return el(
      "article",
      { class: "card claim", tabindex: "-1", "data-claim": row.claim_id, "data-state": state, "aria-current": here ? "true" : null, "aria-labelledby": `at-${row.claim_id}` },
      el("h2", { id: `at-${row.claim_id}` }, t("sheet.claim", { n: row.ordinal }), " ", el("span", { class: `state ${state}` }, t(`case.${state}`))),
      el("div", { class: "beside" },
        el("div", {}, el("p", { class: "answer-text", "data-part": "claim" }, lines(claim)), row.decisions.map(verdict)),
        el("div", {}, row.sources.length ? row.sources.map((one) => source(one, row.claim_text)) : say("notice", meaning("missing")))),
      proposal(row),
      here && sheet.may_review ? decisionForm(row, sheet, word, write)
        : button(t("sheet.review"), () => go(row.claim_id), { class: "small", "data-do": "review" }),
    );
  }

  function source(one, claim) {
    const text = one.passage_text ?? "";
    const passage = sheet.case.passages.find((each) => each.document_id === one.document_id && each.chunk_id === one.passage_id && each.text === text);
    const quote = one.quote ?? "";
    let from = passage ? unitAt(text, one.locator.from - passage.locator.from) : -1;
    if (!text.startsWith(quote, from)) from = text.indexOf(quote);
    const wanted = claim.match(TOKEN) ?? [];
    const spans = spansOf(text, (token) => wanted.includes(token) && "held");
    if (from >= 0) spans.push({ from, to: from + quote.length, name: "quoted" });
    const open = () => openSource({ id: one.document_id, title: one.document_name, locator: one.locator, quote, version: one.version });
    const around = (side) => (side ? el("span", { class: "quiet", dir: "auto" }, side) : null);
    return el(
      "div",
      { "data-part": "source" },
      say("where", `[${one.index}] `, one.document_id ? [button(bdi(one.document_name), open, { class: "title", "data-do": "open" }), " · ", bdi(place(one.locator)),
        " · ", t("sheet.version", { n: one.version }), " · ", one.rank ? t("sheet.rank", { n: one.rank }) : t("sheet.unranked")] : null),
      one.problem ? say("notice", word("points_nowhere"), ". ", bdi(one.problem)) : null,
      text ? el("blockquote", {}, around(passage?.before), lines(marked(text, spans)), around(passage?.after)) : null,
    );
  }

  /** What rules and a model say: apart from every verdict. */
  function proposal({ by_model: model, diagnoses, proposal: rules }) {
    return el("details", { class: "proposal", "data-part": "proposal" }, el("summary", {}, t("proposal.title"), ": ", word(rules.support)),
      rules.missing ? say("quiet", bdi(rules.missing)) : null,
      el("ul", {}, rules.checks.map((one) => el("li", { lang: "en", dir: "auto" }, `${one.check}: ${one.outcome} ${one.detail}`))),
      model ? el("p", { "data-part": "by-model" }, bdi(model.model), ": ", model.support ? word(model.support) : bdi(model.problem), ". ", bdi(model.why), " ",
        bdi(model.missing), " ", model.kept === null ? null : t("proposal.kept", { k: model.kept, n: model.resamples })) : null,
      diagnoses.map(diagnosis));
  }

  function diagnosis(one) {
    return pairs([[word("field_cause"), word(one.cause)], ...PARTS.map((part) => [word(`field_${part}`), bdi(one[part])])]);
  }

  function verdict({ reviewer, at, verdict: said }) {
    const part = (name) => (said[name] ? say("", word(`field_${name}`), ": ", bdi(said[name])) : null);
    const named = (family) => say("", el("strong", {}, word(said[family])), ". ", bdi(said[`${family}_reason`]));
    return el("div", { class: "verdict", "data-part": "decision" }, by(reviewer, at), named("attachment"), named("support"), part("missing"),
      said.diagnosis ? diagnosis(said.diagnosis) : null, part("note"));
  }

  function history() {
    const events = [
      ...sheet.revisions.map((one) => [one.at, by(one.author, one.at), word(one.operation), " ", bdi(one.reason)]),
      ...sheet.history.map(({ decision: one }) => [one.at, textOf(one.claim_id), verdict(one)]),
      ...sheet.notes.map((one) => [one.at, by(one.author, one.at), word("field_note"), ": ", bdi(one.text)]),
    ].sort(([a], [b]) => (a < b ? -1 : 1));
    return fold("history", t("sheet.history"), el("ol", {}, events.map(([, ...parts]) => el("li", {}, parts))));
  }

  function saving() {
    const said = el("div", {});
    const save = (ending) => tried(said, async () => saveAs(await ask("GET", path + FILES[ending]), `evidence-${id.slice(0, 12)}.${ending}`));
    return el("div", { class: "panel actions" }, Object.keys(FILES).map((ending) => button(t(`export.${ending}`), () => void save(ending), { "data-save": ending })), said);
  }

  /** Go to a claim: it alone has the form. */
  function go(claim) {
    if (claim !== current) {
      current = claim;
      show();
    }
    const there = body.querySelector("[aria-current]");
    there?.focus({ preventScroll: true });
    there?.scrollIntoView({ block: "nearest" });
  }

  function pressed(event) {
    const used = event.target.closest("[data-claim]");
    const form = used?.querySelector("form");
    const control = event.ctrlKey || event.metaKey;
    if (event.key === "Escape") used?.focus();
    if (event.key === "Enter" && control) form?.requestSubmit();
    const key = event.code.replace(/^(Key|Digit|Numpad)/, "");
    const does = KEYS[key] ?? CODES[key - 1];
    if (!used || !does || control || event.altKey || event.target.matches("textarea, select")) return;
    event.preventDefault();
    const beside = used[does === "next" ? "nextElementSibling" : "previousElementSibling"];
    if (does === "next" || does === "before") go((beside ?? used).dataset.claim);
    else if (does === "help") body.querySelector("[data-part=help]").toggleAttribute("open");
    else if (does === "source") used.querySelector("[data-do=open]")?.click();
    else if (does === "reasons") form?.querySelector("textarea").focus();
    else if (does === "diagnosis") {
      form?.querySelector("details").setAttribute("open", "");
      form?.querySelector("select").focus();
    } else form?.querySelector(`[value=${does}]`).click();
  }

  return {
    element: el("div", { "data-view": "sheet" }, say("", el("a", { href: "#/evidence" }, t("evidence.back"))), body),
    begin: () => void begin(),
    leave: () => gone.abort(),
  };
}

/** Where tokens stand in a text, each with the name that it gets; without one it is none. */
function spansOf(text, named) {
  return [...text.matchAll(TOKEN)].map(({ 0: token, index }) => ({ from: index, to: index + token.length, name: named(token) })).filter((one) => one.name);
}

/** Pieces of a text by the spans over it. */
function marked(text, spans) {
  const points = [...new Set([0, text.length, ...spans.flatMap((one) => [one.from, one.to])])].sort((a, b) => a - b);
  return points.slice(1).map((to, at) => ({
    text: text.slice(points[at], to),
    marked: spans.filter((one) => one.from <= points[at] && to <= one.to).map((one) => one.name).join(" "),
  }));
}
