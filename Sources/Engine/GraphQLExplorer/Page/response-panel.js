// Shows the latest run of a tab: its response, or the events of a subscription.
import { copyText } from "./clipboard.js";
import { elementByID, makeElement } from "./dom.js";
import { makeViewer } from "./editors.js";
import { EventList } from "./event-list.js";
import { makeExplanation } from "./explanation.js";
import { findImages, makePicture } from "./images.js";

export class ResponsePanel {
  #status = elementByID("response-status");
  #viewerElement = elementByID("response-viewer");
  #viewer = makeViewer(this.#viewerElement, "Response");
  #eventList = new EventList();
  #explanation = elementByID("explanation");
  #response = null;

  constructor() {
    elementByID("copy-response").onclick = () => this.copy(this.#text, "Response");
  }

  showSuccess(text) { this.#showStatus({ text, className: "success" }); }
  showError(text) { this.#showStatus({ text, className: "error" }); }

  /**
   * Shows a run.
   *
   * @param {import("./run.js").Run} [run] Nothing if the tab has not been run.
   */
  show(run) {
    this.#viewerElement.hidden = Boolean(run?.events);
    if (run?.events) this.#eventList.show(run.events);
    else this.#eventList.hide();
    this.#showResponse(run?.response ?? null);
    if (run?.response) this.#showStatistics(run.response);
    else this.#showStatus(run?.status ?? { text: "", className: "" });
  }

  /** Draws the response again after it was hidden. */
  refresh() { this.#viewer.refresh(); }

  focus() { this.#viewer.focus(); }

  /** Copies a text to the clipboard. The status says so with the name of the text. */
  async copy(text, name) {
    if (await copyText(text)) this.showSuccess(`${name} copied`);
    else this.showError("The browser does not allow copying");
  }

  get #text() {
    return this.#eventList.isVisible ? this.#eventList.text : this.#viewer.getValue();
  }

  /** Shows a response as `sendRequest` returns it. The explanation has a place of its own. */
  #showResponse(response) {
    if (response === this.#response) return;
    this.#response = response;
    const { json, explanation } = separateExplanation(response?.json);
    this.#viewer.setValue(json ? JSON.stringify(json, null, 2) : response?.text ?? "");
    this.#showPictures(json);
    this.#explanation.hidden = !explanation;
    this.#explanation.replaceChildren(...(explanation ? makeExplanation(explanation) : []));
  }

  /** Shows each image after its URL. */
  #showPictures(json) {
    const images = new Map(findImages(json).map((image) => [JSON.stringify(image.url), image]));
    if (images.size === 0) return;
    this.#viewer.operation(() => this.#viewer.eachLine((line) => {
      const image = images.get(line.text.match(/"https?:[^"]*"/)?.[0]);
      if (!image) return;
      const end = { line: this.#viewer.getLineNumber(line), ch: line.text.length };
      this.#viewer.setBookmark(end, { widget: makePicture(image) });
    }));
  }

  #showStatus({ text, className }) {
    this.#status.replaceChildren(makeElement("span", { className }, text));
  }

  #showStatistics(response) {
    const isSuccess = response.status < 400 && !response.json?.errors;
    this.#status.replaceChildren(
      makeElement("span", { className: isSuccess ? "success" : "error" }, String(response.status)),
      ` · ${statistics(response)}`);
  }
}

/** Returns the JSON of a response without its explanation, and the explanation. */
function separateExplanation(json) {
  const { explain, ...extensions } = json?.extensions ?? {};
  if (!explain) return { json, explanation: null };
  const { extensions: _, ...rest } = json;
  const hasExtensions = Object.keys(extensions).length > 0;
  return { json: hasExtensions ? { ...rest, extensions } : rest, explanation: explain };
}

/** Returns the duration, the size, the request ID, and the cost of a response. */
function statistics({ milliseconds, text, requestID, cost }) {
  const bytes = new Blob([text]).size;
  return [
    `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`,
    bytes < 2048 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KiB`, requestID, cost,
  ].filter(Boolean).join(" · ");
}
