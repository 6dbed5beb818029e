// Shows what came back: the answer, a list of events as they arrive, and on demand what the server did for it.
import { byID, make } from "./dom.js";
import { makeViewer } from "./editors.js";

const eventsMax = 200;

export class Answer {
  constructor() {
    this.viewer = makeViewer(byID("result"), "Response");
    this.isList = false;
  }

  say(text, className = "bad") { byID("summary").replaceChildren(make("span", { className }, text)); }

  clear() {
    this.say("", "");
    this.showList(false);
    this.viewer.setValue("");
    byID("work").replaceChildren();
    byID("work").hidden = true;
  }

  show({ status, id, text, json, milliseconds, cost }) {
    this.clear();
    const explanation = json?.extensions?.explain;
    if (explanation) {
      delete json.extensions.explain;
      if (Object.keys(json.extensions).length === 0) delete json.extensions;
      this.explain(explanation);
    }
    const size = new Blob([text]).size;
    byID("summary").replaceChildren(
      make("span", { className: status < 400 && !json?.errors ? "good" : "bad" }, String(status)),
      ` · ${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms · `
        + `${size < 2048 ? `${size} B` : `${(size / 1024).toFixed(1)} KiB`} · ${[id, cost].filter(Boolean).join(" · ")}`);
    this.viewer.setValue(json ? JSON.stringify(json, null, 2) : text);
  }

  explain({ microseconds, roundTrips, documentWasKnown }) {
    const longest = Math.max(...Object.values(microseconds), 1);
    const phases = Object.entries(microseconds).map(([name, time]) => make("tr", {},
      make("th", { scope: "row" }, name),
      make("td", {}, make("meter", { min: 0, max: longest, value: time, "aria-label": name })),
      make("td", {}, `${(time / 1000).toFixed(2)} ms`)));
    const trips = roundTrips.map(({ microseconds: time, statements }, index) => make("li", {},
      `Round trip ${index + 1}: ${(time / 1000).toFixed(2)} ms`,
      ...statements.map((statement) => make("pre", {}, statement))));
    byID("work").hidden = false;
    byID("work").replaceChildren(
      make("summary", {}, `${roundTrips.length} round ${roundTrips.length === 1 ? "trip" : "trips"} to the database`),
      make("p", {}, documentWasKnown ? "The document was known: it was parsed and validated before." : "The document was new."),
      make("table", {}, ...phases), make("ol", {}, ...trips));
  }

  showList(isList) {
    this.isList = isList;
    byID("result").hidden = isList;
    byID("events").hidden = !isList;
    if (!isList) byID("events").replaceChildren();
  }

  // The newest event stands first, open.
  add(json) {
    if (!this.isList) this.showList(true);
    const list = byID("events");
    list.firstElementChild?.firstElementChild.removeAttribute("open");
    const text = JSON.stringify(json, null, 2);
    list.prepend(make("li", {}, make("details", { open: true },
      make("summary", { className: json.errors ? "bad" : "" }, `${new Date().toLocaleTimeString()} · ${text.length} characters`),
      make("pre", { tabIndex: 0 }, text))));
    while (list.children.length > eventsMax) list.lastElementChild.remove();
  }

  get text() {
    return this.isList ? [...byID("events").querySelectorAll("pre")].map((one) => one.textContent).join("\n") : this.viewer.getValue();
  }
}
