// Adds, changes, and removes arguments and variables in the text of a document.
//
// A container is what has the inputs: a field with its parentheses, or an input object.
import { parseDocument, tokenize } from "./document-tree.js";
import { exampleValue } from "./example-value.js";
import { parseLiteral } from "./literals.js";
import { namedType, typeReferenceText } from "./schema.js";

/**
 * A new text, and the variables that change with it. A value of undefined removes the variable.
 *
 * @typedef {{query: string, variables?: Record<string, unknown>}} Edit
 */

/**
 * Adds an input with an example of its value.
 *
 * @param field The node of the field that has the input, directly or in an object.
 * @returns {Edit}
 */
export function addInput(text, field, container, definition, schema) {
  return addExample(text, field, definition, schema, insertInput.bind(null, container));
}

/** Replaces all fields of an object whose type accepts exactly one. */
export function replaceInputs(text, field, { open, close }, definition, schema) {
  return addExample(text, field, definition, schema, (input, edited) =>
    `${edited.slice(0, open + 1)} ${input} ${edited.slice(close)}`);
}

/** Adds an input. A file becomes a variable, because it has no literal. */
function addExample(text, field, definition, schema, insert) {
  const { name: inputName, type } = definition;
  if (namedType(type) === "Upload") {
    return addVariable(text, field, definition, null,
      (edited, name) => insert(`${inputName}: $${name}`, edited));
  }
  return { query: insert(`${inputName}: ${exampleValue(type, schema)}`, text) };
}

/** Removes an input, and the parentheses that become empty with it. */
export function removeInput(text, container, input) {
  const isField = container.headerEnd != null;
  const query = isField && container.inputs.length === 1
    ? text.slice(0, container.open) + text.slice(container.close + 1)
    : text.slice(0, input.start) + text.slice(input.end).replace(/^\s*,/, "");
  return removeUnusedVariables(query, variableNames(input.value));
}

export function setValue(text, input, value) {
  return { query: text.slice(0, input.valueStart) + value + text.slice(input.end) };
}

/** Replaces the value of an input by a variable with this value. */
export function useVariable(text, field, input, definition) {
  return addVariable(text, field, definition, parseLiteral(input.value) ?? null,
    (edited, name) => setValue(edited, input, `$${name}`).query);
}

/** Replaces a variable by a literal, and removes its definition if nothing else uses it. */
export function useLiteral(text, input, literal) {
  const { query } = setValue(text, input, literal);
  return removeUnusedVariables(query, variableNames(input.value));
}

/** Returns the names of the variables in a value. */
const variableNames = (value) => tokenize(value)
  .filter(({ kind }) => kind === "variable").map(({ text }) => text.slice(1));

function insertInput(container, inputText, text) {
  if (container.open == null) {
    return `${text.slice(0, container.headerEnd)}(${inputText})${text.slice(container.headerEnd)}`;
  }
  const separator = container.inputs.length > 0 ? ", " : "";
  return text.slice(0, container.close) + separator + inputText + text.slice(container.close);
}

/**
 * Defines a variable for an input and lets `edit` use it.
 *
 * @param {(text: string, name: string) => string} edit Changes the text of the field, which comes
 *   after the definition.
 */
function addVariable(text, field, { name: inputName, type }, value, edit) {
  let operation = field;
  while (operation.parent.kind !== "document") operation = operation.parent;
  const takenNames = operation.inputs.map(({ name }) => name.slice(1));
  let name = inputName;
  for (let number = 2; takenNames.includes(name); number += 1) name = `${inputName}${number}`;
  const definition = `$${name}: ${typeReferenceText(type)}`;
  const edited = edit(text, name);
  const query = operation.isShorthand
    ? `${edited.slice(0, operation.start)}query (${definition}) ${edited.slice(operation.start)}`
    : insertInput(operation, definition, edited);
  return { query, variables: { [name]: value } };
}

/** Removes the definitions of variables that the document does not use. */
function removeUnusedVariables(text, names) {
  let query = text;
  const variables = {};
  for (const name of names) {
    const uses = tokenize(query).filter((token) => token.text === `$${name}`);
    if (uses.length > 1) continue;
    const container = parseDocument(query).children
      .find(({ inputs }) => inputs.some((input) => input.name === `$${name}`));
    const definition = container?.inputs.find((input) => input.name === `$${name}`);
    if (definition) query = removeInput(query, container, definition).query;
    variables[name] = undefined;
  }
  return { query, variables };
}
