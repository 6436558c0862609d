// What goes wrong, said in words of the page's language, with what can be done.

import { button, el, bdi } from "/ui/dom.js";
import { known, t } from "/ui/words.js";

const SECOND_MS = 1000;

/** A panel for a Trouble; null for one that the reader wanted. `retry` is offered where trying again may help. */
export function troublePanel(trouble, retry = null) {
  if (trouble.kind === "cancelled") return null;
  const family = `trouble.${trouble.kind}`;
  const actions = el("p", { class: "actions" });
  const panel = el(
    "div",
    { class: "panel trouble", role: "alert", "data-trouble": trouble.kind },
    el("h2", {}, t(`${family}.title`)),
    el("p", {}, t(`${family}.text`)),
    known(`code.${trouble.code}`) ? el("p", {}, t(`code.${trouble.code}`)) : null,
    actions,
    technical(trouble),
  );
  if (retry !== null) {
    const again = button(t("action.again"), retry, { class: "primary" });
    actions.append(again);
    if (trouble.retryAfter) wait(again, actions, trouble.retryAfter);
  }
  return panel;
}

/** What the service itself says: for who asks its operator. */
function technical(trouble) {
  const said = [trouble.code, trouble.detail, trouble.where].filter(Boolean);
  if (!said.length) return null;
  return el(
    "details",
    {},
    el("summary", {}, t("trouble.technical")),
    said.map((text) => el("p", { class: "technical" }, bdi(text))),
  );
}

/** Count down what the service asked to wait; then the button may be pressed. */
function wait(again, actions, seconds) {
  const ends = performance.now() + seconds * SECOND_MS;
  const left = el("span", { class: "quiet" });
  again.disabled = true;
  actions.append(left);
  const tick = () => {
    const remaining = Math.ceil((ends - performance.now()) / SECOND_MS);
    again.disabled = remaining > 0;
    left.textContent = remaining > 0 ? t("trouble.wait", { n: remaining }) : "";
    if (remaining > 0 && (again.isConnected || !tick.shown)) {
      tick.shown = again.isConnected;
      setTimeout(tick, SECOND_MS / 2);
    }
  };
  tick();
}

const LATE_MS = 3000;

/** A panel for work that is under way; says so when it takes long, and can be cancelled. */
export function waiting(text, cancel) {
  const said = el("span", {}, text);
  const panel = el(
    "div",
    { class: "waiting", role: "status" },
    el("span", { class: "spinner", "aria-hidden": "true" }),
    said,
    button(t("action.cancel"), cancel, { class: "small" }),
  );
  setTimeout(() => {
    if (panel.isConnected) said.textContent = `${text} ${t("wait.long")}`;
  }, LATE_MS);
  return panel;
}
