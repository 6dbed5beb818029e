// Shows what the server did for a request: its phases, and the SQL of each database round trip.
import { makeElement } from "./dom.js";

/** Makes the contents of a `<details>` element from the response's `explain` extension. */
export function makeExplanation({
  microseconds, roundTrips, documentWasKnown, scopes, isSessionOnly,
}) {
  const tripsText = roundTrips.length === 1 ? "round trip" : "round trips";
  const documentText = documentWasKnown
    ? "The server had parsed and validated this document before." : "The document was new.";
  return [
    makeElement("summary", {}, `${roundTrips.length} ${tripsText} to the database`),
    makeElement("p", {}, documentText),
    makeElement("p", {}, scopesText(scopes, isSessionOnly)),
    makeElement("table", {}, ...makePhases(microseconds)),
    makeElement("ol", {}, ...roundTrips.map(makeRoundTrip)),
  ];
}

/** Says which personal access tokens can run the document. */
function scopesText(scopes, isSessionOnly) {
  if (isSessionOnly) return "Personal access tokens cannot run this document.";
  return scopes.length === 0
    ? "Personal access tokens need no scope for this document."
    : `Personal access tokens need these scopes for this document: ${scopes.join(", ")}.`;
}

/** Makes a row with a bar for each phase. The bars are relative to the longest phase. */
function makePhases(microsecondsByPhase) {
  const max = Math.max(...Object.values(microsecondsByPhase), 1);
  return Object.entries(microsecondsByPhase).map(([name, microseconds]) => makeElement("tr", {},
    makeElement("th", { scope: "row" }, name),
    makeElement("td", {},
      makeElement("meter", { min: 0, max, value: microseconds, "aria-label": name })),
    makeElement("td", {}, millisecondsText(microseconds))));
}

function makeRoundTrip({ microseconds, statements }, index) {
  return makeElement("li", {}, `Round trip ${index + 1}: ${millisecondsText(microseconds)}`,
    ...statements.map((statement) => makeElement("pre", {}, statement)));
}

const millisecondsText = (microseconds) => `${(microseconds / 1000).toFixed(2)} ms`;
