// Files on their way to the service: chosen or dropped, one after the other, each with how far it is.

import { sendFile } from "/ui/api.js";
import { announce, bdi, button, el, freshId } from "/ui/dom.js";
import { troublePanel } from "/ui/trouble.js";
import { bytes, percent, t } from "/ui/words.js";

/** The place for files; `accepted` is called with the row of each that the service took. */
export function uploads({ accepted }) {
  const id = freshId("files");
  const waitingFiles = [];
  let busy = false;
  const list = el("ul", { class: "uploads", "aria-label": t("upload.list") });
  const input = el("input", { id, type: "file", class: "unseen", multiple: true, "aria-describedby": `${id}-help`, on: { change: () => {
    take(input.files);
    input.value = "";
  } } });
  const element = el(
    "section",
    { class: "panel drop", "aria-label": t("upload.title"), on: {
      dragover: (event) => {
        event.preventDefault();
        element.classList.add("over");
      },
      dragleave: () => element.classList.remove("over"),
      drop: (event) => {
        event.preventDefault();
        element.classList.remove("over");
        take(event.dataTransfer.files);
      },
    } },
    el("h2", {}, t("upload.title")),
    el("p", {}, input, el("label", { for: id, class: "choose" }, t("upload.choose"))),
    el("p", { id: `${id}-help`, class: "quiet" }, t("upload.help")),
    list,
  );

  function take(files) {
    for (const file of files) {
      const place = el("li", { "data-upload": file.name });
      list.append(place);
      queue(file, place);
    }
  }

  function queue(file, place) {
    place.replaceChildren(bdi(file.name), " ", el("span", { class: "quiet" }, bytes(file.size), " · ", t("upload.waiting")));
    waitingFiles.push({ file, place });
    void work();
  }

  async function work() {
    if (busy) return;
    busy = true;
    while (waitingFiles.length) {
      const { file, place } = waitingFiles.shift();
      await send(file, place);
    }
    busy = false;
  }

  async function send(file, place) {
    const gone = new AbortController();
    const bar = el("progress", { max: "1", value: "0", "aria-label": t("upload.progress", { name: file.name }) });
    const far = el("span", { class: "quiet" }, percent(0));
    place.dataset.state = "sending";
    place.replaceChildren(bdi(file.name), " ", bar, " ", far, " ",
      button(t("action.cancel"), () => gone.abort(), { class: "small", "data-do": "cancel" }));
    try {
      const row = await sendFile(file, (share) => {
        bar.value = share;
        far.textContent = percent(share);
      }, gone.signal);
      const used = place.contains(document.activeElement);
      place.remove();
      announce(t("upload.sent", { name: file.name }));
      accepted(row);
      if (used) input.focus();
    } catch (trouble) {
      place.dataset.state = trouble.kind;
      const again = () => queue(file, place);
      const away = button(t("upload.dismiss"), () => {
        place.remove();
        input.focus();
      }, { class: "small" });
      place.replaceChildren(
        bdi(file.name),
        ...(trouble.kind === "cancelled"
          ? [el("p", { class: "quiet" }, t("upload.cancelled")), button(t("action.again"), again, { class: "small" })]
          : [troublePanel(trouble, again)]),
        " ",
        away,
      );
    }
  }

  return element;
}
