// The one way to the API: the key, errors in one shape, cancelling, what this service can do.

import { key } from "/ui/store.js";

/** What went wrong. `kind` chooses the state that is shown; the rest is the service's own problem report. */
export class Trouble extends Error {
  constructor(kind, problem = {}, retryAfter = null) {
    super(kind);
    this.kind = kind;
    this.code = problem.code ?? null;
    this.detail = problem.detail ?? null;
    this.where = problem.where ?? null;
    this.retryAfter = retryAfter;
  }
}

const KINDS = { 401: "key", 403: "forbidden", 404: "missing", 409: "conflict", 413: "large", 429: "limited", 503: "down" };
const FAILED = 500;

function kindOf(status) {
  return KINDS[status] ?? (status >= FAILED ? "failed" : "invalid");
}

/** The trouble of an answer that is no success. */
export function troubleOf(status, text, header) {
  let problem = {};
  try {
    problem = JSON.parse(text);
  } catch {
    // A proxy's page instead of a problem: the status says enough.
  }
  const seconds = Number.parseInt(header ?? "", 10);
  const trouble = new Trouble(kindOf(status), problem, Number.isNaN(seconds) ? null : seconds);
  if (trouble.kind === "key") document.dispatchEvent(new CustomEvent("key-refused"));
  return trouble;
}

/** Ask the API; gives the response, or throws a Trouble. `body` is sent as JSON. */
export async function ask(method, path, { body, signal, headers = {}, as = key() } = {}) {
  const sent = { ...headers };
  // A header holds Latin letters alone; a key with others is none.
  sent.Authorization = `Bearer ${/^[\x21-\x7e]+$/.test(as ?? "") ? as : "-"}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), signal, cache: "no-store",
    });
  } catch (error) {
    throw new Trouble(error.name === "AbortError" ? "cancelled" : "offline");
  }
  if (response.ok) return response;
  throw troubleOf(response.status, await response.text(), response.headers.get("Retry-After"));
}

/** Read an answer to its end; a connection that breaks meanwhile is a Trouble too. */
export async function read(response, how) {
  try {
    return await response[how]();
  } catch (error) {
    throw new Trouble(error.name === "AbortError" ? "cancelled" : "offline");
  }
}

/** Ask, and read JSON. */
export async function askJson(method, path, options) {
  return read(await ask(method, path, options), "json");
}

/** Save what an answer holds as a file. */
export async function saveAs(response, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await read(response, "blob"));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Send a file; tells how much has gone, and can be broken off. Gives the row of the document. */
export function sendFile(file, progress, signal) {
  const form = new FormData();
  form.append("file", file, file.name);
  return new Promise((resolve, reject) => {
    // fetch tells nothing of how much has been sent.
    const request = new XMLHttpRequest();
    request.open("POST", "/documents");
    request.setRequestHeader("Authorization", `Bearer ${key()}`);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(troubleOf(request.status, request.responseText, request.getResponseHeader("Retry-After")));
    });
    request.addEventListener("error", () => reject(new Trouble("cut")));
    request.addEventListener("abort", () => reject(new Trouble("cancelled")));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

let described = null;

/** The API's description of itself: the page shows only what this service can do. */
export function description() {
  described ??= fetch("/openapi.json")
    .then((response) => (response.ok ? response.json() : { paths: {} }))
    .catch(() => ({ paths: {} }));
  return described;
}

/** Whether there is such a route. */
export async function can(method, path) {
  return Boolean((await description()).paths[path]?.[method]);
}

/** Whether a body has such a field. */
export async function takes(schema, field) {
  return Boolean((await description()).components?.schemas?.[schema]?.properties?.[field]);
}
