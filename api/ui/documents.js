// Documents: what is there and in which state, why one failed, and what can be done about it.

import { ask, askJson } from "/ui/api.js";
import { announce, bdi, button, el, focusOn, freshId } from "/ui/dom.js";
import { troublePanel, waiting } from "/ui/trouble.js";
import { uploads } from "/ui/uploads.js";
import { openSource } from "/ui/viewer.js";
import { known, moment, named, t } from "/ui/words.js";

const PAGE = 50;
const STATES = ["queued", "extracting", "embedding", "indexing", "ready", "failed", "quarantined", "deleting"];
const WORKING = ["queued", "extracting", "embedding", "indexing", "deleting"];
const STEPS = ["queued", "extracting", "embedding", "indexing", "ready"];
const TROUBLED = ["failed", "quarantined"];
// How long between two looks at documents that are worked on: soon at first, then less often.
const POLL_MS = 700;
const POLL_MOST_MS = 5000;

const path = (id, action = "") => `/documents/${encodeURIComponent(id)}${action}`;

/** The view. */
export function documentsView(asked) {
  const state = STATES.includes(asked.get("state")) ? asked.get("state") : "";
  const after = asked.get("after") ?? "";
  const gone = new AbortController();
  const rows = new Map();
  const sent = new Set();
  let timer = null;
  let pause = POLL_MS;
  const list = el("ul", { class: "documents", "aria-label": t("documents.list") });
  const said = el("div", {});
  const more = el("nav", { class: "actions", "aria-label": t("page.label") });
  const id = freshId("state");
  const choose = el(
    "select",
    { id, "data-do": "state", on: { change: (event) => {
      location.hash = event.target.value ? `#/documents?state=${event.target.value}` : "#/documents";
    } } },
    el("option", { value: "" }, t("documents.all")),
    STATES.map((name) => el("option", { value: name, selected: name === state }, t(`state.${name}`))),
  );
  const element = el(
    "div",
    { "data-view": "documents" },
    el("h1", {}, t("nav.documents")),
    uploads({ accepted: (row) => {
      sent.add(row.id);
      put(row, true);
      pause = POLL_MS;
      watch();
    } }),
    el("p", { class: "field inline" }, el("label", { for: id }, t("documents.state")), choose,
      button(t("documents.refresh"), () => void load(true), { class: "small" })),
    said,
    list,
    more,
  );

  async function load(first) {
    if (first && !rows.size) said.replaceChildren(waiting(t("documents.loading"), () => gone.abort()));
    const parameters = new URLSearchParams({ size: String(PAGE) });
    if (state) parameters.set("state", state);
    if (after) parameters.set("after", after);
    try {
      const response = await ask("GET", `/documents?${parameters}`, { signal: gone.signal });
      const listed = await response.json();
      said.replaceChildren();
      const there = new Set(listed.map((row) => row.id));
      for (const row of listed) put(row, false);
      for (const known of sent) {
        if (there.has(known)) continue;
        const row = await askJson("GET", path(known), { signal: gone.signal }).catch((trouble) => {
          if (trouble.kind === "missing") return null;
          throw trouble;
        });
        if (row) put(row, true);
        else remove(known);
      }
      for (const known of [...rows.keys()]) if (!there.has(known) && !sent.has(known)) remove(known);
      if (!rows.size) said.replaceChildren(el("p", { class: "panel", "data-trouble": "empty" }, t(state ? "documents.none" : "documents.empty")));
      turn(response.headers.get("Link"));
      watch();
    } catch (trouble) {
      if (trouble.kind === "cancelled") said.replaceChildren();
      else said.replaceChildren(troublePanel(trouble, () => void load(true)));
    }
  }

  function turn(link) {
    const next = /<\/documents\?([^>]*)>/.exec(link ?? "")?.[1];
    const following = next && new URLSearchParams(next).get("after");
    const address = (name) => `#/documents?${new URLSearchParams({ ...(state ? { state } : {}), ...(name ? { after: name } : {}) })}`;
    more.replaceChildren(
      ...(after ? [el("a", { href: address("") }, t("documents.first"))] : []),
      ...(following ? [el("a", { href: address(following) }, t("page.after"))] : []),
    );
  }

  /** Look again while something is worked on. */
  function watch() {
    clearTimeout(timer);
    if (gone.signal.aborted || ![...rows.values()].some((one) => WORKING.includes(one.row.state))) return;
    timer = setTimeout(() => void load(false), pause);
    pause = Math.min(POLL_MOST_MS, pause * 1.3);
  }

  /** Show a row; one that has not changed stays as it is, with the focus in it. */
  function put(row, onTop) {
    const before = rows.get(row.id);
    const signature = JSON.stringify([row.state, row.reason, row.attempts, row.chunks_indexed, row.name]);
    if (before?.signature === signature) return;
    const made = item(row);
    if (before) {
      const used = before.element.contains(document.activeElement);
      before.element.replaceWith(made);
      if (used) focusOn(made.querySelector("h2"));
      if (before.row.state !== row.state) announce(`${row.name}: ${t(`state.${row.state}`)}`);
    } else if (onTop) {
      list.prepend(made);
    } else {
      list.append(made);
    }
    rows.set(row.id, { row, signature, element: made });
    if (rows.size === 1) said.replaceChildren();
  }

  function remove(known) {
    const there = rows.get(known);
    if (!there) return;
    const used = there.element.contains(document.activeElement);
    there.element.remove();
    rows.delete(known);
    sent.delete(known);
    if (used) focusOn(element.querySelector("h1"));
  }

  function item(row) {
    const told = el("div", {});
    const act = (action, method, name) => button(t(`document.${name}`), async (event) => {
      const pressed = event.currentTarget;
      pressed.disabled = true;
      try {
        // Followed from now on, though the list may be of the state that it leaves.
        sent.add(row.id);
        put(await askJson(method, path(row.id, action)), false);
        pause = POLL_MS;
        watch();
      } catch (trouble) {
        told.replaceChildren(...[troublePanel(trouble)].filter(Boolean));
        pressed.disabled = false;
      }
    }, { class: "small", "data-do": name });
    const readable = row.state === "ready" || row.chunks_indexed > 0;
    const made = el(
      "li",
      { class: "card document", "data-document": row.id, "data-state": row.state },
      el("h2", {}, bdi(row.name)),
      el("p", {},
        el("span", { class: `state ${row.state}` }, t(`state.${row.state}`)),
        row.state === "ready" ? el("span", { class: "quiet" }, " ", t("document.passages", { n: row.chunks_indexed })) : null),
      WORKING.includes(row.state) && row.state !== "deleting" ? progress(row.state) : null,
      told,
      el(
        "div",
        { class: "actions" },
        readable ? button(t("document.open"), () => openSource({ id: row.id, title: row.name }), { class: "small", "data-do": "open" }) : null,
        row.state === "failed" ? act("/retry", "POST", "retry") : null,
        row.state === "quarantined" ? act("/release", "POST", "release") : null,
        row.state === "deleting" ? null : button(t("document.delete"), () => confirmDelete(row), { class: "small bad", "data-do": "delete" }),
      ),
    );
    if (TROUBLED.includes(row.state)) void explain(row, told);
    return made;
  }

  /** Why a document failed or waits for a person: in words of the page, with what the service said behind them. */
  async function explain(row, told) {
    let about = row;
    try {
      about = await askJson("GET", path(row.id), { signal: gone.signal });
    } catch (trouble) {
      if (trouble.kind === "cancelled") return;
      // The row's own reason stands then.
    }
    const code = about.reason_code;
    const doubts = about.issues ?? [];
    told.replaceChildren(
      el("p", { class: "notice bad", "data-part": "reason" },
        known(`code.${code}`) ? t(`code.${code}`) : t(`reason.${row.state}`)),
      ...(doubts.length
        ? [el("ul", {}, doubts.map((doubt, place) => {
          const kind = about.issue_codes?.[place];
          if (!known(`issue.${kind}`)) return el("li", {}, bdi(doubt));
          // What was read stands at the end of the service's own sentence, which follows below.
          const read = doubt.match(/\(([^()]+)\)\s*$/)?.[1];
          return el("li", {}, t(`issue.${kind}`), read ? [" ", bdi(read, { class: "quiet" })] : null);
        }))]
        : []),
      el("details", {}, el("summary", {}, t("trouble.technical")),
        el("p", { class: "technical" }, bdi(row.reason ?? "")),
        doubts.map((doubt) => el("p", { class: "technical" }, bdi(doubt))),
        el("p", { class: "quiet" }, t("document.attempts", { n: row.attempts })),
        about.finished_at ? el("p", { class: "quiet" }, t("document.since", { moment: moment(about.finished_at) })) : null),
    );
  }

  /** What is deleted can't be brought back: it is asked twice. */
  function confirmDelete(row) {
    const heading = freshId("delete");
    const back = document.activeElement;
    const told = el("div", {});
    const dialog = el(
      "dialog",
      { class: "confirm", role: "alertdialog", "aria-labelledby": heading, "data-view": "confirm", on: { close: () => {
        dialog.remove();
        if (back?.isConnected) back.focus();
      } } },
      el("h2", { id: heading }, t("document.delete_title")),
      el("p", {}, t("document.delete_text", { name: row.name })),
      told,
      el("div", { class: "actions" },
        button(t("document.keep"), () => dialog.close(), { autofocus: true, "data-do": "keep" }),
        button(t("document.delete_sure"), () => void away(), { class: "bad", "data-do": "delete-sure" })),
    );

    async function away() {
      try {
        await ask("DELETE", path(row.id));
        dialog.close();
        announce(t("document.deleted", { name: row.name }));
        remove(row.id);
      } catch (trouble) {
        told.replaceChildren(...[troublePanel(trouble)].filter(Boolean));
      }
    }

    document.body.append(dialog);
    dialog.showModal();
  }

  return {
    element,
    begin: () => void load(true),
    leave() {
      gone.abort();
      clearTimeout(timer);
    },
  };
}

function progress(state) {
  const at = STEPS.indexOf(state);
  return el("ol", { class: "steps" }, STEPS.map((name, place) =>
    el("li", { class: place < at ? "past" : place === at ? "now" : "", "aria-current": place === at ? "step" : null }, named("state", name))));
}
