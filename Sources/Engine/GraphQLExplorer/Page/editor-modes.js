// Defines CodeMirror's modes for GraphQL and JSON: highlighting, indentation, and folding.
import CodeMirror from "/explorer/codemirror.js";

// The first pattern that matches at a position decides the style of the text.
const graphQLStyles = [
  [/#.*/, "comment"],
  [/"(?:\\.|[^"\\])*"?/, "string"],
  [/-?\d[\d.eE+-]*/, "number"],
  [/\$\w*/, "variable"],
  [/@\w*/, "meta"],
  [/\.\.\./, "keyword"],
  [/(?:true|false|null)\b/, "atom"],
  [/(?:query|mutation|subscription|fragment|on)\b(?!\s*:)/, "keyword"],
  [/\w+(?=\s*:)/, "attribute"],
  [/\w+/, "property"],
];

const jsonStyles = [
  [/"(?:\\.|[^"\\])*"(?=\s*:)/, "property"],
  [/"(?:\\.|[^"\\])*"?/, "string"],
  [/-?\d[\d.eE+-]*/, "number"],
  [/(?:true|false|null)\b/, "atom"],
];

export function defineModes() {
  defineMode("graphql", { styles: graphQLStyles, hasBlockStrings: true });
  defineMode("json", { styles: jsonStyles, hasBlockStrings: false });
}

function defineMode(name, { styles, hasBlockStrings }) {
  CodeMirror.defineMode(name, ({ indentUnit }) => ({
    startState: () => ({ depth: 0, isInBlockString: false }),
    token(stream, state) {
      if (state.isInBlockString || (hasBlockStrings && stream.match('"""'))) {
        return readBlockString(stream, state);
      }
      if (stream.eatSpace()) return null;
      const match = styles.find(([pattern]) => stream.match(pattern));
      if (match) return match[1];
      countBracket(stream.next(), state);
      return null;
    },
    indent: ({ depth }, textAfter) =>
      Math.max(0, depth - (/^[}\])]/.test(textAfter) ? 1 : 0)) * indentUnit,
    electricInput: /^\s*[}\])]$/,
    fold: "brace",
    closeBrackets: '()[]{}""',
  }));
}

/** Reads a block string to its end, or the rest of the line if it continues on the next one. */
function readBlockString(stream, state) {
  state.isInBlockString = !stream.match(/.*?"""/);
  if (state.isInBlockString) stream.skipToEnd();
  return "string";
}

function countBracket(character, state) {
  if ("{[(".includes(character)) state.depth += 1;
  else if ("}])".includes(character)) state.depth = Math.max(0, state.depth - 1);
}
