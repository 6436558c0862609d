// Every word of the page, from one catalogue; numbers, dates and amounts by locale.

import { keep, kept } from "/ui/store.js";

const LANGUAGES = ["he", "en"];
const LOCALES = { he: "he-IL", en: "en-GB" };
const STORED = "language";
// Around every value that is put into a sentence, so that its direction stays its own.
const ISOLATE = "\u2068";
const POP = "\u2069";
const BYTES_PER_KB = 1000;

let catalogue = {};
let current = "en";

/** Fetch the catalogue, and choose the language: the one chosen before, else the browser's. */
export async function loadWords() {
  catalogue = await (await fetch("/ui/strings.json")).json();
  const asked = [kept(STORED), ...navigator.languages.map((name) => name.toLowerCase().slice(0, 2).replace("iw", "he"))];
  use(asked.find((name) => LANGUAGES.includes(name)) ?? "en");
}

/** The language of the page. */
export function language() {
  return current;
}

/** The other one. */
export function otherLanguage() {
  return current === "he" ? "en" : "he";
}

/** Choose a language for now and later. */
export function chooseLanguage(name) {
  keep(STORED, name);
  use(name);
}

function use(name) {
  current = name;
  document.documentElement.lang = name;
  document.documentElement.dir = name === "he" ? "rtl" : "ltr";
}

function locale() {
  return navigator.languages.find((name) => name.toLowerCase().startsWith(`${current}-`)) ?? LOCALES[current];
}

/** Whether the catalogue has a key. */
export function known(key) {
  return Object.hasOwn(catalogue, key);
}

/** A text of the catalogue, in the page's language or another one; `{name}` becomes a value, isolated. */
export function t(key, values = {}, name = current) {
  const entry = catalogue[key][name];
  const text = typeof entry === "string" ? entry : (entry[plural(values.n)] ?? entry.other);
  return text.replace(/\{(\w+)\}/g, (_, value) => {
    const given = values[value];
    return `${ISOLATE}${typeof given === "number" ? number(given) : given}${POP}`;
  });
}

function plural(count) {
  return new Intl.PluralRules(LOCALES[current]).select(count);
}

/** A number; text keeps all its digits. */
export function number(value) {
  return new Intl.NumberFormat(locale()).format(value);
}

export function percent(share) {
  return new Intl.NumberFormat(locale(), { style: "percent" }).format(share);
}

/** An amount with its currency. */
export function money(value, currency) {
  return new Intl.NumberFormat(locale(), { style: "currency", currency }).format(value);
}

/** A day, given as 2026-03-31: the same day wherever the reader is. */
export function day(text) {
  const moment = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(moment.getTime())) return text;
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeZone: "UTC" }).format(moment);
}

/** A moment, in the reader's time. */
export function moment(text) {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(text));
}

/** A size of a file. */
export function bytes(count) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  const value = count / BYTES_PER_KB ** step;
  return new Intl.NumberFormat(locale(), {
    style: "unit", unit: units[step], maximumFractionDigits: value < 10 && step ? 1 : 0,
  }).format(value);
}

/** A place in a recording: 1:05, or 1:02:03. */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, place) => (place ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** What a code is called: of the catalogue where it knows it, else as it stands. */
export function named(family, code) {
  return known(`${family}.${code}`) ? t(`${family}.${code}`) : String(code);
}

/** A place of a document in words of the page's language. */
export function place(locator) {
  const parts = [];
  if (locator.attachment) parts.push(t("place.attachment", { name: locator.attachment }));
  // A passage over several pages says so in its label alone.
  const [, first, last] = /(\d+)–(\d+)$/.exec(locator.label) ?? [];
  if (locator.page && Number(first) === locator.page) parts.push(t("place.pages", { first, last }));
  else if (locator.page) parts.push(t("place.page", { n: locator.page }));
  if (locator.slide) parts.push(t("place.slide", { n: locator.slide }));
  if (locator.sheet) parts.push(t("place.sheet", { name: locator.sheet }));
  if (locator.cells) parts.push(t("place.cells", { name: locator.cells }));
  if (typeof locator.start_s === "number") {
    const end = typeof locator.end_s === "number" ? `–${clock(locator.end_s)}` : "";
    parts.push(t("place.time", { name: `${clock(locator.start_s)}${end}` }));
  }
  return parts.length ? parts.join(", ") : t("place.characters", { first: number(locator.from), last: number(locator.to) });
}
