// Finds the part of the schema that a name in a document means.
import { parseDocument, selectedType, tokenize } from "./document-tree.js";
import { inputsAt, openBrackets, openNode, typeOfInput } from "./input-context.js";
import { namedType, typeReferenceText } from "./schema.js";

/**
 * A name in a document, and what the schema says about it.
 *
 * @typedef {object} DocumentSymbol
 * @property {string} coordinate Where the schema defines it: `Book`, `Book.title`.
 * @property {string} signature
 * @property {?string} description
 * @property {?string} deprecationReason
 * @property {number} start The offset of its first character in the document.
 * @property {number} end The offset after its last character.
 */

/**
 * Returns the symbol at an offset of a document, or null.
 *
 * @returns {?DocumentSymbol}
 */
export function symbolAt(text, offset, schema) {
  const tokens = tokenize(text);
  const index = tokens.findIndex(({ start, end }) => start <= offset && offset <= end);
  // Between two tokens without a space, the offset belongs to the name.
  const isName = (position) => ["name", "directive"].includes(tokens[position]?.kind);
  const nameIndex = isName(index) ? index
    : isName(index + 1) && tokens[index + 1].start === offset ? index + 1 : -1;
  if (nameIndex < 0) return null;
  const { start, end } = tokens[nameIndex];
  const symbol = describeName(text, tokens, nameIndex, schema);
  return symbol && { ...symbol, start, end };
}

function describeName(text, tokens, index, schema) {
  const token = tokens[index];
  if (token.kind === "directive") return null;
  const tokensBefore = tokens.slice(0, index);
  const brackets = openBrackets(tokensBefore);
  const parenthesis = brackets.findIndex(({ text: bracket }) => bracket === "(");
  if (parenthesis >= 0) {
    return describeInput(text, tokens, index, brackets.slice(parenthesis), schema);
  }
  const node = nodeAt(parseDocument(text), token.start);
  if (node.kind === "field") {
    const parentType = selectedType(node.parent, schema);
    return describeMember(parentType, schema.field(parentType, node.name));
  }
  if (schema.rootTypes.has(node.kind)) {
    return token.text === node.kind ? describeType(schema.rootTypes.get(node.kind)) : null;
  }
  return token.text === node.typeCondition ? describeType(schema.type(token.text)) : null;
}

/** Returns the innermost node whose text contains an offset outside of its selection set. */
function nodeAt(node, offset) {
  const child = node.children.find(({ start, end }) => start <= offset && offset < end);
  return child ? nodeAt(child, offset) : node;
}

/** Describes a name in parentheses: an argument, an input field, a value, or a variable's type. */
function describeInput(text, tokens, index, brackets, schema) {
  const [parenthesis] = brackets;
  const node = openNode(text.slice(0, parenthesis.start));
  const owner = tokens[parenthesis.index - 1];
  const token = tokens[index];
  if (owner?.kind === "directive") return null;
  if (node.kind === "document") return describeType(schema.type(token.text));
  const parentType = selectedType(node, schema);
  const field = schema.field(parentType, node.children.at(-1)?.name);
  const { inputs, itemType, type } = inputsAt(
    tokens.slice(0, index), brackets, field?.args ?? [], schema);
  if (tokens[index + 1]?.text === ":") {
    const input = inputs.find(({ name }) => name === token.text);
    // The schema shows arguments together with their field.
    return type ? describeMember(type, input)
      : input && { ...describeMember(parentType, field), ...describeArgument(input) };
  }
  const valueType = tokens[index - 1]?.text === ":"
    ? typeOfInput(inputs, tokens[index - 2]?.text) : itemType;
  const enumType = schema.type(namedType(valueType));
  return describeMember(enumType, enumType?.enumValues?.find(({ name }) => name === token.text));
}

function describeType(type) {
  if (!type) return null;
  const keyword = { INPUT_OBJECT: "input", OBJECT: "type" }[type.kind] ?? type.kind.toLowerCase();
  return {
    coordinate: type.name, signature: `${keyword} ${type.name}`, description: type.description,
    deprecationReason: null,
  };
}

function describeMember(type, member) {
  if (!type || !member) return null;
  const args = (member.args ?? []).map((arg) => `${arg.name}: ${typeReferenceText(arg.type)}`);
  const argsText = args.length > 0 ? `(${args.join(", ")})` : "";
  const typeText = member.type ? `: ${typeReferenceText(member.type)}` : "";
  return {
    coordinate: `${type.name}.${member.name}`,
    signature: `${type.name}.${member.name}${argsText}${typeText}`,
    description: member.description,
    deprecationReason: member.isDeprecated ? member.deprecationReason : null,
  };
}

function describeArgument({ name, type, description, defaultValue, isDeprecated, deprecationReason }) {
  const defaultText = defaultValue == null ? "" : ` = ${defaultValue}`;
  return {
    signature: `${name}: ${typeReferenceText(type)}${defaultText}`, description,
    deprecationReason: isDeprecated ? deprecationReason : null,
  };
}
