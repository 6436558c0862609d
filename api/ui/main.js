// The frame of the page: what stands in the head of every view, and which view is shown.

import { button, el, focusOn } from "/ui/dom.js";
import { documentsView } from "/ui/documents.js";
import { evidenceView } from "/ui/evidence.js";
import { forgetDrafts } from "/ui/evidence_review.js";
import { forget, searchView } from "/ui/search.js";
import { signIn } from "/ui/signin.js";
import { holdKey, keep, kept, key } from "/ui/store.js";
import { chooseLanguage, loadWords, otherLanguage, t } from "/ui/words.js";

const THEME = "theme";
const VIEWS = { search: searchView, documents: documentsView, evidence: evidenceView };
const root = document.getElementById("page");
let shown = null;
let refused = false;

/** The view that the address names, and what it was asked with. */
function addressed() {
  const [, name, asked] = /^#\/(\w*)\??(.*)$/.exec(location.hash) ?? [];
  return { name: Object.hasOwn(VIEWS, name) ? name : "search", asked: new URLSearchParams(asked) };
}

function dark() {
  const chosen = kept(THEME);
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function colour() {
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  const theme = root.querySelector("[data-do=theme]");
  if (theme) theme.textContent = t(dark() ? "theme.light" : "theme.dark");
}

function head(name) {
  const link = (view) =>
    el("a", { href: `#/${view}`, "aria-current": view === name ? "page" : null }, t(`nav.${view}`));
  const other = otherLanguage();
  const theme = button(t(dark() ? "theme.light" : "theme.dark"), () => {
    keep(THEME, dark() ? "light" : "dark");
    colour();
  }, { class: "plain", "data-do": "theme" });
  const language = button(t("language.name", {}, other), () => {
    chooseLanguage(other);
    render();
    root.querySelector("[data-do=language]").focus();
  }, { class: "plain", lang: other, "data-do": "language" });
  return el(
    "header",
    { class: "head" },
    el("a", { class: "skip", href: "#main", on: { click: (event) => {
      // The address names the view; a jump within it must not change it.
      event.preventDefault();
      focusOn(document.getElementById("main"));
    } } }, t("nav.skip")),
    el("a", { class: "brand", href: "#/search" }, t("brand")),
    key() ? el("nav", { "aria-label": t("nav.label") }, Object.keys(VIEWS).map(link)) : null,
    el(
      "div",
      { class: "tools" },
      language,
      theme,
      key() ? button(t("nav.signout"), () => leave(false), { class: "plain", "data-do": "signout" }) : null,
    ),
  );
}

/** Forget the key; the query in the address stays for whoever signs in again. */
function leave(wasRefused) {
  holdKey(null);
  forget();
  forgetDrafts();
  refused = wasRefused;
  render();
  root.querySelector("[name=key]").focus();
}

function render() {
  shown?.leave?.();
  shown = null;
  const { name, asked } = addressed();
  const main = el("main", { id: "main" });
  root.replaceChildren(head(name), main);
  if (key()) {
    shown = VIEWS[name](asked);
    main.append(shown.element);
    document.title = `${t(`nav.${name}`)} · ${t("brand")}`;
    shown.begin?.();
  } else {
    document.title = `${t("signin.title")} · ${t("brand")}`;
    main.append(signIn({ refused, done: () => {
      refused = false;
      render();
      focusOn(root.querySelector("h1"));
      root.querySelector("[type=search]")?.focus();
    } }));
  }
}

addEventListener("hashchange", () => {
  const before = shown;
  if (before?.moved?.(addressed())) return;
  forget();
  render();
  focusOn(root.querySelector("h1"));
});
document.addEventListener("key-refused", () => {
  // A key that is tried at the sign-in is not this one.
  if (key()) leave(true);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colour);
// What is dropped beside the place for files must not take the page's place.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
colour();
await loadWords();
render();
