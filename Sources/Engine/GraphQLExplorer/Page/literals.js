// Converts values between GraphQL literals and JSON.
import { tokenize } from "./document-tree.js";
import { namedType } from "./schema.js";

/** Returns the JSON value of a literal, or undefined if it is malformed or contains variables. */
export function parseLiteral(text) {
  const tokens = tokenize(text);
  const state = { tokens, index: 0 };
  const value = parseValue(state);
  return state.index === tokens.length ? value : undefined;
}

const keywords = { true: true, false: false, null: null };

function parseValue(state) {
  const { kind, text } = state.tokens[state.index] ?? {};
  state.index += 1;
  if (text === "[") return parseList(state);
  if (text === "{") return parseObject(state);
  if (kind === "name") return text in keywords ? keywords[text] : text;
  if (kind === "number" || kind === "string") return parseScalar(text);
  return undefined;
}

/** Block strings are not JSON, so they have no value here. */
function parseScalar(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseList(state) {
  const items = [];
  while (state.index < state.tokens.length && state.tokens[state.index].text !== "]") {
    items.push(parseValue(state));
  }
  state.index += 1;
  return items.includes(undefined) ? undefined : items;
}

function parseObject(state) {
  const object = {};
  while (state.index < state.tokens.length && state.tokens[state.index].text !== "}") {
    const { text: name } = state.tokens[state.index];
    state.index += 2;
    object[name] = parseValue(state);
  }
  state.index += 1;
  return Object.values(object).includes(undefined) ? undefined : object;
}

/** Returns the literal of a JSON value for a type of the schema. */
export function formatLiteral(value, type, schema) {
  if (type.kind === "NON_NULL") return formatLiteral(value, type.ofType, schema);
  if (Array.isArray(value)) {
    const itemType = type.kind === "LIST" ? type.ofType : type;
    return `[${value.map((item) => formatLiteral(item, itemType, schema)).join(", ")}]`;
  }
  const definition = schema.type(namedType(type));
  if (value && typeof value === "object") {
    const fields = Object.entries(value).map(([name, member]) => {
      const field = definition?.inputFields?.find((candidate) => candidate.name === name);
      return `${name}: ${formatLiteral(member, field?.type ?? type, schema)}`;
    });
    return `{ ${fields.join(", ")} }`;
  }
  return definition?.kind === "ENUM" && typeof value === "string" ? value : JSON.stringify(value);
}
