// Colours for GraphQL and JSON. A text is cut into tokens by one expression; what it does not name stays plain.

const graphQL =
  /(?<comment>#[^\n]*)|(?<string>"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(?<variable>[$@]\w+)|(?<number>-?\b\d[\d.eE+-]*)|(?<keyword>\b(?:query|mutation|subscription|fragment|on|true|false|null)\b)/g;
const json =
  /(?<key>"(?:\\.|[^"\\\n])*"(?=\s*:))|(?<string>"(?:\\.|[^"\\\n])*"?)|(?<number>-?\b\d[\d.eE+-]*)|(?<keyword>\b(?:true|false|null)\b)/g;

// Above this, colouring would make typing or scrolling slow.
const lengthMax = 100_000;

function paint(element, text, tokens) {
  const parts = [];
  let end = 0;
  if (text.length <= lengthMax) {
    for (const match of text.matchAll(tokens)) {
      const name = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
      const span = document.createElement("span");
      span.className = name;
      span.textContent = match[0];
      parts.push(text.slice(end, match.index), span);
      end = match.index + match[0].length;
    }
  }
  // A last empty line is only shown when something stands on it.
  element.replaceChildren(...parts, text.slice(end), "\n");
}

export const paintGraphQL = (element, text) => paint(element, text, graphQL);
export const paintJSON = (element, text) => paint(element, text, json);
