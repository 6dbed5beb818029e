// Completes GraphQL documents with fields, arguments, values, types, and directives of a schema.
import { parseDocument, selectedType, tokenize } from "./document-tree.js";
import { inputsAt, openBrackets, openNode, typeOfInput } from "./input-context.js";
import { isComposite, isInput, namedType } from "./schema.js";
import { makeSuggestion, suggestMembers, suggestTypes } from "./suggestions.js";

const definitionKeywords = ["query", "mutation", "subscription", "fragment"];

const executableLocations = [
  "QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD",
  "INLINE_FRAGMENT", "VARIABLE_DEFINITION",
];

/**
 * Returns the suggestions at an offset of a document.
 *
 * @returns {import("./suggestions.js").Completion}
 */
export function completeQuery(text, offset, schema) {
  const textBefore = text.slice(0, offset).replace(/[$@]?\w*$/, "");
  const prefix = text.slice(textBefore.length, offset);
  const suggestions = suggestionsAfter(textBefore, prefix, text, schema).filter(({ insertText }) =>
    insertText.toLowerCase().startsWith(prefix.toLowerCase()) && insertText !== prefix);
  return { from: textBefore.length, suggestions };
}

function suggestionsAfter(textBefore, prefix, text, schema) {
  const tokens = tokenize(textBefore);
  if (isInString(tokens)) return [];
  if (prefix.startsWith("@")) return suggestDirectives(schema);
  const brackets = openBrackets(tokens);
  const parenthesis = brackets.findIndex(({ text: bracket }) => bracket === "(");
  if (parenthesis >= 0) {
    return suggestInParentheses(textBefore, tokens, brackets.slice(parenthesis), text, schema);
  }
  const node = openNode(textBefore);
  const lastText = tokens.at(-1)?.text;
  if (node.kind === "document") return suggestOutsideSelections(lastText, schema);
  return suggestSelections(lastText, selectedType(node, schema), text, schema);
}

/** Whether text after the tokens is part of a string that is not closed. */
function isInString(tokens) {
  const last = tokens.at(-1);
  return last?.kind === "string"
    && !/^(?:"""(?:\\"""|[^])*?"""|"(?!"")(?:\\.|[^"\\])*")$/.test(last.text);
}

// Outside of parentheses

function suggestDirectives({ directives }) {
  return directives
    .filter(({ locations }) => locations.some((location) => executableLocations.includes(location)))
    .map((directive) => makeSuggestion(`@${directive.name}`, { definition: directive }));
}

function suggestOutsideSelections(lastText, schema) {
  if (lastText === "on") return suggestTypes(schema.ownTypes.filter(isComposite));
  // The user chooses the name after a keyword.
  if (definitionKeywords.includes(lastText)) return [];
  return [...schema.rootTypes.keys(), "fragment"].map((keyword) => makeSuggestion(keyword));
}

function suggestSelections(lastText, type, text, schema) {
  if (!type) return [];
  if (lastText === "on") return suggestTypes(schema.fragmentTypes(type));
  if (lastText === "...") {
    return [makeSuggestion("on", { insertText: "on " }), ...suggestFragments(text)];
  }
  return [
    ...suggestMembers(type.fields ?? []),
    makeSuggestion("__typename", { detail: "String!" }),
    makeSuggestion("... on", { insertText: "... on " }),
  ];
}

function suggestFragments(text) {
  return parseDocument(text).children
    .filter((node) => node.kind === "fragmentDefinition" && node.name)
    .map((node) => makeSuggestion(node.name, { detail: `on ${node.typeCondition}` }));
}

// In parentheses: variable definitions, or arguments with nested input objects and lists

/**
 * Suggests for a position in parentheses.
 *
 * @param brackets The parenthesis and the brackets in it that are open at the position.
 */
function suggestInParentheses(textBefore, tokens, brackets, text, schema) {
  const [parenthesis] = brackets;
  const node = openNode(textBefore.slice(0, parenthesis.start));
  const owner = tokens[parenthesis.index - 1];
  if (owner?.kind === "directive") {
    const directive = schema.directives.find(({ name }) => `@${name}` === owner.text);
    return suggestInputs(tokens, brackets, directive?.args, text, schema);
  }
  if (node.kind === "document") return suggestVariableTypes(tokens.at(-1).text, schema);
  const field = schema.field(selectedType(node, schema), node.children.at(-1)?.name);
  return suggestInputs(tokens, brackets, field?.args, text, schema);
}

function suggestVariableTypes(lastText, schema) {
  return [":", "["].includes(lastText) ? suggestTypes(schema.ownTypes.filter(isInput)) : [];
}

/** Suggests names or values of arguments, or of the fields of the input objects in them. */
function suggestInputs(tokens, brackets, args, text, schema) {
  const { inputs, itemType } = inputsAt(tokens, brackets, args ?? [], schema);
  const lastText = tokens.at(-1).text;
  if (lastText === ":") {
    return suggestValues(typeOfInput(inputs, tokens.at(-2)?.text), text, schema);
  }
  if (lastText === "[" || (itemType && lastText !== "{")) {
    return suggestValues(itemType, text, schema);
  }
  const givenNames = inputNames(tokens.slice(brackets.at(-1).index));
  return suggestMembers(inputs.filter(({ name }) => !givenNames.includes(name)), ": ");
}

/** Returns the names that a colon follows. */
function inputNames(tokens) {
  return tokens.filter((_, index) => tokens[index + 1]?.text === ":").map(({ text }) => text);
}

/** Suggests values of a type, and all variables of the document. */
function suggestValues(typeReference, text, schema) {
  const variables = tokenize(text)
    .filter((token) => token.kind === "variable" && token.text !== "$")
    .map((token) => token.text);
  return [
    ...suggestLiterals(schema.type(namedType(typeReference))),
    ...[...new Set(variables)].map((name) => makeSuggestion(name, { detail: "variable" })),
  ];
}

function suggestLiterals(type) {
  if (type?.kind === "ENUM") return suggestMembers(type.enumValues);
  if (type?.name === "Boolean") return [makeSuggestion("true"), makeSuggestion("false")];
  if (type?.kind === "INPUT_OBJECT") {
    return [makeSuggestion("{", { detail: type.name, insertText: "{ ", definition: type })];
  }
  return [];
}
