// Lists the events of a subscription, newest first.
import { elementByID, makeElement } from "./dom.js";
import { eventTitle } from "./event-title.js";
import { findImages, makePicture } from "./images.js";

export class EventList {
  #list = elementByID("event-list");
  #events = null;
  /** The number of the newest event in the list. */
  #lastNumber = 0;

  get isVisible() { return !this.#list.hidden; }

  hide() {
    this.#list.hidden = true;
    this.#clear(null);
  }

  /** Shows events. If they are those of the last call, only the new ones are added. */
  show(events) {
    this.#list.hidden = false;
    if (events !== this.#events) this.#clear(events);
    for (const event of events) {
      if (event.number > this.#lastNumber) this.#add(event);
    }
    while (this.#list.children.length > events.length) this.#list.lastElementChild.remove();
  }

  /** The JSON of all events. */
  get text() {
    return [...this.#list.querySelectorAll("pre")].map(({ textContent }) => textContent).join("\n");
  }

  #clear(events) {
    this.#events = events;
    this.#lastNumber = 0;
    this.#list.replaceChildren();
  }

  /** Adds an event and expands it. The event before it is collapsed. */
  #add({ number, time, result }) {
    this.#lastNumber = number;
    this.#list.querySelector("details")?.removeAttribute("open");
    const summary = makeElement("summary", { className: result.errors ? "error" : "" },
      makeElement("span", {}, `${number}. ${eventTitle(result)}`),
      makeElement("time", {}, time.toLocaleTimeString()));
    this.#list.prepend(makeElement("li", {}, makeElement("details", { open: true }, summary,
      makeElement("div", { className: "pictures" }, ...findImages(result).map(makePicture)),
      makeElement("pre", { tabIndex: 0 }, JSON.stringify(result, null, 2)))));
  }
}
