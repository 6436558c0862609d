// Signing in: a key, kept for this tab alone.

import { askJson } from "/ui/api.js";
import { el, freshId } from "/ui/dom.js";
import { holdKey } from "/ui/store.js";
import { troublePanel } from "/ui/trouble.js";
import { t } from "/ui/words.js";

/** The view; `refused` where a key that held before does not any more, `done` is called with a key that holds. */
export function signIn({ refused, done }) {
  const id = freshId("key");
  const input = el("input", {
    id, type: "password", name: "key", autocomplete: "off", spellcheck: "false", required: true, dir: "ltr",
    "aria-describedby": `${id}-help`,
  });
  const said = el("div", {});
  const submit = el("button", { class: "primary" }, t("signin.submit"));
  const form = el(
    "form",
    { class: "panel narrow", "data-view": "signin", on: { submit: (event) => void tried(event) } },
    el("h1", {}, t("signin.title")),
    refused
      ? el("p", { class: "notice bad", role: "alert", "data-trouble": "revoked" }, t("signin.refused"))
      : el("p", {}, t("signin.none")),
    el("label", { for: id }, t("signin.key")),
    input,
    el("p", { id: `${id}-help`, class: "quiet" }, t("signin.help")),
    submit,
    said,
  );

  async function tried(event) {
    event.preventDefault();
    const key = input.value.trim();
    if (!key) return;
    submit.disabled = true;
    said.replaceChildren();
    try {
      // The smallest question that needs a key.
      await askJson("GET", "/documents?size=1", { as: key });
      holdKey(key);
      done();
    } catch (trouble) {
      said.replaceChildren(
        trouble.kind === "key"
          ? el("p", { class: "notice bad", role: "alert", "data-trouble": "unknown-key" }, t("signin.unknown"))
          : troublePanel(trouble, () => form.requestSubmit()),
      );
      input.focus();
    } finally {
      submit.disabled = false;
    }
  }

  return form;
}
