// Finds what is open at a position of a document: selection sets, brackets, and input objects.
import { parseDocument } from "./document-tree.js";
import { namedType } from "./schema.js";

/** Returns the node with the innermost selection set that is open at the end of a text. */
export const openNode = (text) => innermostOpenNode(parseDocument(text));

function innermostOpenNode(node) {
  const last = node.children.at(-1);
  const isOpen = last && last.openBrace != null && last.closeBrace == null;
  return isOpen ? innermostOpenNode(last) : node;
}

/** Returns the brackets that are open after the tokens, outermost first, with their indexes. */
export function openBrackets(tokens) {
  const brackets = [];
  tokens.forEach((token, index) => {
    if (["(", "[", "{"].includes(token.text)) brackets.push({ ...token, index });
    else if ([")", "]", "}"].includes(token.text)) brackets.pop();
  });
  return brackets;
}

/**
 * Returns the arguments or input fields that the innermost parenthesis or brace accepts as `inputs`,
 * the input object type that has them as `type`, and the type of the list as `itemType` if a
 * bracket is open inside of it.
 *
 * @param tokens The tokens before a position.
 * @param brackets The parenthesis and the brackets in it that are open there.
 * @param args The arguments that the parenthesis accepts.
 */
export function inputsAt(tokens, brackets, args, schema) {
  let inputs = args;
  let itemType = null;
  let type = null;
  for (const bracket of brackets.slice(1)) {
    const name = tokens[bracket.index - 1]?.text === ":" ? tokens[bracket.index - 2]?.text : null;
    if (name) itemType = typeOfInput(inputs, name);
    if (bracket.text === "{") {
      type = schema.type(namedType(itemType)) ?? null;
      inputs = type?.inputFields ?? [];
      itemType = null;
    }
  }
  return { inputs, itemType, type };
}

export const typeOfInput = (inputs, name) => inputs.find((input) => input.name === name)?.type;
