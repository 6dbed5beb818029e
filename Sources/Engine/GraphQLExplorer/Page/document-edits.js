// Adds and removes selections in the text of a document.
import { parseDocument, selectedType } from "./document-tree.js";
import { inputsText } from "./example-value.js";
import { isComposite, isRequired, namedType } from "./schema.js";

const fragmentPrefix = "... on ";

/** Returns how a path names the inline fragment on a type. */
export const fragmentKey = (typeName) => fragmentPrefix + typeName;

/** Returns how a path names a node, or null for fragment spreads, which paths do not contain. */
function nodeKey({ kind, name, typeCondition }) {
  if (kind === "inlineFragment") return fragmentKey(typeCondition);
  return kind === "field" ? name : null;
}

/** Returns the child of a node that a path continues with, if the document contains it. */
export const childWithKey = (node, key) => node?.children.find((child) => nodeKey(child) === key);

/** Returns the text without a node, and without the selection sets that become empty with it. */
export function removeSelection(text, node) {
  let removed = node;
  while (removed.parent.kind !== "document" && removed.parent.children.length === 1) {
    removed = removed.parent;
  }
  return text.slice(0, removed.start).trimEnd() + text.slice(removed.end);
}

/**
 * Returns the text with one more selection, and with the selections around it that are missing.
 *
 * A path consists of the kind of the operation and the keys of the selections:
 * `["query", "node", "... on Book", "title"]`.
 */
export function addSelection(text, [operationKind, ...keys], schema) {
  const operations = parseDocument(text).children
    .filter((node) => schema.rootTypes.has(node.kind));
  let node = operations.find((operation) => operation.kind === operationKind);
  if (!node) return addOperation(text, operations, operationKind, keys, schema);
  let depth = 0;
  for (let child = childWithKey(node, keys[0]); child; child = childWithKey(node, keys[depth])) {
    node = child;
    depth += 1;
  }
  const addition = selectionText(selectedType(node, schema), keys.slice(depth), schema);
  return insertSelection(text, node, addition);
}

function insertSelection(text, node, addition) {
  if (node.openBrace == null) {
    return `${text.slice(0, node.end)} { ${addition} }${text.slice(node.end)}`;
  }
  const end = node.closeBrace ?? text.length;
  return `${text.slice(0, end).trimEnd()} ${addition} ${text.slice(end)}`;
}

/** Appends an operation. It gets a name if there are others, and so does an anonymous other. */
function addOperation(text, operations, kind, keys, schema) {
  const header = operations.length > 0 ? `${kind} ${defaultName(kind)}` : kind;
  const selection = selectionText(schema.rootTypes.get(kind), keys, schema);
  const textBefore = nameAnonymousOperation(text, operations).trimEnd();
  return `${textBefore}\n\n${header} {\n  ${selection}\n}\n`.trimStart();
}

function nameAnonymousOperation(text, operations) {
  const operation = operations.find(({ name }) => !name);
  if (!operation) return text;
  const { kind, start, isShorthand } = operation;
  const nameStart = isShorthand ? start : start + kind.length;
  const name = isShorthand ? `query ${defaultName("query")} ` : ` ${defaultName(kind)}`;
  return text.slice(0, nameStart) + name + text.slice(nameStart);
}

const defaultName = (kind) => `My${kind[0].toUpperCase()}${kind.slice(1)}`;

/** Returns the text of nested selections with their required arguments. */
function selectionText(type, [key, ...innerKeys], schema) {
  const field = key.startsWith(fragmentPrefix) ? null : schema.field(type, key);
  const innerType = schema.type(field ? namedType(field.type) : key.slice(fragmentPrefix.length));
  const header = key + requiredArgumentsText(field?.args ?? [], schema);
  if (!isComposite(innerType)) return header;
  const keys = innerKeys.length > 0 ? innerKeys : [defaultFieldName(innerType, schema)];
  return `${header} { ${selectionText(innerType, keys, schema)} }`;
}

function requiredArgumentsText(args, schema) {
  const required = args.filter(isRequired);
  return required.length > 0 ? `(${inputsText(required, schema)})` : "";
}

/** Returns the field that a new selection set begins with. Connections begin with their nodes. */
function defaultFieldName(type, schema) {
  const fields = type.fields ?? [];
  const hasNoSelections = (field) => !isComposite(schema.type(namedType(field.type)));
  const candidates = [
    fields.find(({ name }) => name === "nodes"),
    fields.find(({ name }) => name === "id"),
    fields.find((field) => field.args.length === 0 && hasNoSelections(field)),
  ];
  return candidates.find(Boolean)?.name ?? "__typename";
}
