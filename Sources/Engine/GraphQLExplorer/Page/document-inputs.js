// Parses the arguments, input objects, and variable definitions of documents.

/**
 * An argument, a field of an input object, or a variable definition.
 *
 * @typedef {object} Input
 * @property {string} name
 * @property {number} start The offset of its name in the document.
 * @property {number} end The offset after its value.
 * @property {number} valueStart
 * @property {string} value The text of the value. The type and the default value of a variable.
 * @property {?number} open The offset of the brace that opens the value, if it is an object.
 * @property {?number} close The offset of the brace that closes it.
 * @property {Input[]} inputs The fields of the value, if it is an object.
 */

/**
 * Returns the inputs between two brackets.
 *
 * @param {import("./document-tree.js").Token[]} tokens The tokens between the brackets.
 * @param {string} text The document.
 * @returns {Input[]}
 */
export function parseInputs(tokens, text) {
  const inputs = [];
  let index = 0;
  while (index < tokens.length) {
    if (tokens[index + 1]?.text === ":" && tokens[index + 2]) {
      const end = valueEnd(tokens, index + 2);
      inputs.push(makeInput(tokens[index], tokens.slice(index + 2, end), text));
      index = end;
    } else {
      index += 1;
    }
  }
  return inputs;
}

/** Returns the index after the value that begins at an index. */
function valueEnd(tokens, index) {
  let depth = 0;
  for (let end = index; end < tokens.length; end += 1) {
    if (depth === 0 && end > index && tokens[end + 1]?.text === ":") return end;
    if ("([{".includes(tokens[end].text)) depth += 1;
    else if (")]}".includes(tokens[end].text)) depth -= 1;
  }
  return tokens.length;
}

function makeInput({ text: name, start }, valueTokens, text) {
  const [first, last] = [valueTokens[0], valueTokens.at(-1)];
  const isObject = first.text === "{" && last.text === "}";
  return {
    name, start, end: last.end, valueStart: first.start, value: text.slice(first.start, last.end),
    open: isObject ? first.start : null, close: isObject ? last.start : null,
    inputs: isObject ? parseInputs(valueTokens.slice(1, -1), text) : [],
  };
}
