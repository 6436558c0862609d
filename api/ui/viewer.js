// The source of a passage, open at its place with the words marked; for a PDF, its page beside.

import { ask, askJson, read } from "/ui/api.js";
import { bdi, button, el, freshId, lines, unitAt } from "/ui/dom.js";
import { troublePanel, waiting } from "/ui/trouble.js";
import { day, named, place, t } from "/ui/words.js";

// Text around the place that is shown at once, in UTF-16 units; the rest is a button away.
const AROUND = 12_000;
const PDF = "application/pdf";

/** Open the source. `place` is the locator, `quote` what stands there, `version` when it was read. */
export function openSource({ id, title, locator, quote, version }) {
  const back = document.activeElement;
  const gone = new AbortController();
  const headingId = freshId("source");
  const body = el("div", { class: "source" });
  const close = button(t("action.close"), () => dialog.close(), { class: "small", "data-do": "close" });
  const dialog = el(
    "dialog",
    { class: "viewer", "aria-labelledby": headingId, "data-view": "source", on: { close: ended } },
    el(
      "header",
      {},
      el("div", {},
        el("h2", { id: headingId }, bdi(title)),
        locator ? el("p", { class: "where", "data-part": "place" }, bdi(place(locator))) : null),
      close,
    ),
    body,
  );
  const addresses = [];
  document.body.append(dialog);
  dialog.showModal();
  void load();

  function ended() {
    gone.abort();
    for (const address of addresses) URL.revokeObjectURL(address);
    dialog.remove();
    back?.focus();
  }

  async function load() {
    body.replaceChildren(waiting(t("source.loading"), () => dialog.close()));
    try {
      const [text, about] = await Promise.all([
        ask("GET", `/documents/${encodeURIComponent(id)}/text`, { signal: gone.signal }).then((got) => read(got, "text")),
        askJson("GET", `/documents/${encodeURIComponent(id)}`, { signal: gone.signal }),
      ]);
      const pane = textPane(text, locator, quote, version !== undefined && about.version !== version);
      body.replaceChildren(facts(about), el("div", { class: "panes" }, pane.element));
      pane.show();
      void original(about, body.lastChild);
    } catch (trouble) {
      body.replaceChildren(...[troublePanel(trouble, () => void load())].filter(Boolean));
    }
  }

  /** The file as it was sent: a PDF beside the text at its page; anything else to be saved, never run here. */
  async function original(about, panes) {
    const said = el("p", { class: "actions" });
    panes.before(said);
    if (about.url && /^https?:\/\//.test(about.url)) {
      said.append(el("a", { href: about.url, target: "_blank", rel: "noopener noreferrer" }, t("source.url")));
    }
    let data;
    try {
      data = await read(await ask("GET", `/documents/${encodeURIComponent(id)}/file`, { signal: gone.signal }), "blob");
    } catch (trouble) {
      if (trouble.kind === "missing") said.append(el("span", { class: "quiet" }, t("source.nofile")));
      return;
    }
    const isPdf = about.media_type === PDF;
    const address = URL.createObjectURL(new Blob([data], { type: isPdf ? PDF : "application/octet-stream" }));
    addresses.push(address);
    said.append(el("a", { href: address, download: about.name, "data-do": "save" }, t("source.save")));
    if (!isPdf) return;
    const page = `${address}#page=${locator?.page ?? 1}`;
    said.append(el("a", { href: page, target: "_blank", rel: "noopener", "data-do": "pdf" },
      t("source.pdf", { n: locator?.page ?? 1 })));
    panes.append(el("iframe", { class: "pdf", src: page, title: t("source.pdf", { n: locator?.page ?? 1 }) }));
  }
}

function facts(about) {
  const rows = [
    ["source.name", about.name],
    ["field.type", about.type && named("type", about.type)],
    ["field.date", about.date && day(about.date)],
    ["field.reference", about.reference],
  ].filter(([, value]) => value);
  return el("dl", { class: "facts" }, rows.map(([key, value]) => [el("dt", {}, t(key)), el("dd", {}, bdi(value))]));
}

/** The text around a place. */
function textPane(text, locator, quote, changed) {
  let from = locator ? unitAt(text, locator.from) : 0;
  let to = locator ? unitAt(text, locator.to) : 0;
  let note = null;
  let mark = null;
  if (quote && text.slice(from, to) !== quote) {
    // The document is another version by now: the words may stand elsewhere in it, or nowhere.
    const found = text.indexOf(quote);
    note = t(found < 0 ? "source.lost" : "source.moved");
    [from, to] = found < 0 ? [0, 0] : [found, found + quote.length];
  } else if (changed) {
    note = t("source.moved");
  }
  let [first, last] = [Math.max(0, from - AROUND), Math.min(text.length, to + AROUND)];
  const shown = el("div", { class: "text" });
  const scroller = el("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": t("source.text") });
  const above = button(t("source.above"), () => {
    first = Math.max(0, first - AROUND);
    fill();
  }, { class: "small" });
  const below = button(t("source.below"), () => {
    last = Math.min(text.length, last + AROUND);
    fill();
  }, { class: "small" });

  function fill() {
    const before = scroller.scrollHeight - scroller.scrollTop;
    const higher = above.isConnected;
    shown.replaceChildren(
      ...lines([
        { text: text.slice(first, from), marked: false },
        { text: text.slice(from, to), marked: true },
        { text: text.slice(to, last), marked: false },
      ]),
    );
    mark = shown.querySelector("mark");
    mark?.setAttribute("tabindex", "-1");
    mark?.setAttribute("data-part", "quote");
    scroller.replaceChildren(...(first > 0 ? [above] : []), shown, ...(last < text.length ? [below] : []));
    if (higher && document.activeElement === document.body) scroller.scrollTop = scroller.scrollHeight - before;
  }

  fill();
  return {
    element: el("div", { class: "pane" }, note ? el("p", { class: "notice", role: "status" }, note) : null, scroller),
    show() {
      mark?.scrollIntoView({ block: "center" });
      (mark ?? scroller).focus({ preventScroll: true });
    },
  };
}
