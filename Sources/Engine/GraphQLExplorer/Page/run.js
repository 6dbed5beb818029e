// Describes a run of a tab's request, with its response or its events.

const maxEvents = 200;

/**
 * An event of a subscription.
 *
 * @typedef {object} RunEvent
 * @property {number} number The number of the event, beginning with 1.
 * @property {Date} time
 * @property {object} result A GraphQL result.
 */

export class Run {
  #controller = new AbortController();
  #eventCount = 0;

  /** Whether the server may still respond. */
  isActive = true;

  /** The text of the status line, and its class: "success", "error", or empty. */
  status = { text: "Running…", className: "" };

  /** The response as `sendRequest` returns it, or null. */
  response = null;

  /**
   * The latest events of a subscription, newest last, or null for queries and mutations.
   *
   * @type {?RunEvent[]}
   */
  events = null;

  /** The signal that aborts the request. */
  get signal() { return this.#controller.signal; }

  stop() { this.#controller.abort(); }

  showStatus(text, className = "") { this.status = { text, className }; }

  /** Adds the result of an event. The oldest event is removed when there are too many. */
  addEvent(result) {
    this.#eventCount += 1;
    this.events.push({ number: this.#eventCount, time: new Date(), result });
    if (this.events.length > maxEvents) this.events.shift();
    const eventsText = this.#eventCount === 1 ? "event" : "events";
    this.showStatus(`${this.#eventCount} ${eventsText}, waiting for more…`, "success");
  }
}
