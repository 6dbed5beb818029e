// Lists the events of a subscription, newest first.
import { elementByID, makeElement } from "./dom.js";

const maxEvents = 200;

export class EventList {
  #list = elementByID("event-list");

  get isVisible() { return !this.#list.hidden; }

  show() { this.#list.hidden = false; }

  hide() {
    this.#list.hidden = true;
    this.#list.replaceChildren();
  }

  /** Adds an event and expands it. The event before it is collapsed, and the oldest is removed. */
  add(event) {
    this.#list.querySelector("details")?.removeAttribute("open");
    const text = JSON.stringify(event, null, 2);
    const title = `${new Date().toLocaleTimeString()} · ${text.length} characters`;
    this.#list.prepend(makeElement("li", {}, makeElement("details", { open: true },
      makeElement("summary", { className: event.errors ? "error" : "" }, title),
      makeElement("pre", { tabIndex: 0 }, text))));
    while (this.#list.children.length > maxEvents) this.#list.lastElementChild.remove();
  }

  /** The JSON of all events. */
  get text() {
    return [...this.#list.querySelectorAll("pre")].map(({ textContent }) => textContent).join("\n");
  }
}
