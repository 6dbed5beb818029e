// Shows the response of a query or a mutation, or the events of a subscription.
import { elementByID, makeElement } from "./dom.js";
import { makeViewer } from "./editors.js";
import { EventList } from "./event-list.js";
import { makeExplanation } from "./explanation.js";

export class ResponsePanel {
  #status = elementByID("response-status");
  #viewerElement = elementByID("response-viewer");
  #viewer = makeViewer(this.#viewerElement, "Response");
  #eventList = new EventList();
  #explanation = elementByID("explanation");

  constructor() {
    elementByID("copy-response").onclick = () => this.copy(this.#text, "Response");
  }

  showStatus(text) { this.#showStatus(text, ""); }
  showSuccess(text) { this.#showStatus(text, "success"); }
  showError(text) { this.#showStatus(text, "error"); }

  clear() {
    this.showStatus("");
    this.#viewer.setValue("");
    this.#viewerElement.hidden = false;
    this.#eventList.hide();
    this.#explanation.hidden = true;
    this.#explanation.replaceChildren();
  }

  /** Shows a response as `sendRequest` returns it. The explanation has a place of its own. */
  showResponse(response) {
    this.clear();
    const { json, explanation } = separateExplanation(response.json);
    if (explanation) this.#showExplanation(explanation);
    const isSuccess = response.status < 400 && !json?.errors;
    this.#status.replaceChildren(
      makeElement("span", { className: isSuccess ? "success" : "error" }, String(response.status)),
      ` · ${statistics(response)}`);
    this.#viewer.setValue(json ? JSON.stringify(json, null, 2) : response.text);
  }

  /** Shows the list of events in place of the response. */
  showEventList() {
    this.#viewerElement.hidden = true;
    this.#eventList.show();
  }

  addEvent(event) {
    // Another tab may have shown its response in the meantime.
    this.showEventList();
    this.#eventList.add(event);
  }

  focus() { this.#viewer.focus(); }

  /** Copies a text to the clipboard. The status says so with the name of the text. */
  copy(text, name) {
    navigator.clipboard?.writeText(text).then(
      () => this.showSuccess(`${name} copied`),
      () => this.showError("The browser does not allow copying"));
  }

  get #text() {
    return this.#eventList.isVisible ? this.#eventList.text : this.#viewer.getValue();
  }

  #showStatus(text, className) {
    this.#status.replaceChildren(makeElement("span", { className }, text));
  }

  #showExplanation(explanation) {
    this.#explanation.hidden = false;
    this.#explanation.replaceChildren(...makeExplanation(explanation));
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
