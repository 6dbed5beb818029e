// Completes the JSON of the variables with member names and values of the operation's types.
import { namedType, typeReferenceText } from "./schema.js";
import { makeSuggestion } from "./suggestions.js";

/**
 * Returns the suggestions at an offset of the JSON text.
 *
 * @param variables The operation's variables as `{ name, type }`, with the type as text.
 * @returns {import("./suggestions.js").Completion}
 */
export function completeVariables(text, offset, variables, schema) {
  const [prefix] = text.slice(0, offset).match(/"?\w*$/);
  const textBefore = text.slice(0, offset - prefix.length);
  const { containers, key } = openContainers(textBefore);
  if (containers.length === 0) return { from: textBefore.length, suggestions: [] };
  const { members, itemType } = membersAt(containers, variables, schema);
  const isKey = /[{,]\s*$/.test(textBefore) && containers.at(-1).bracket === "{";
  const valueType = key ? typeOfMember(members, key) : itemType;
  const suggestions = isKey
    ? suggestKeys(members) : suggestValues(schema.type(namedType(valueType)));
  return {
    from: textBefore.length,
    suggestions: suggestions.filter(({ label }) => label.startsWith(prefix.replace(/^"/, ""))),
  };
}

/**
 * Returns the objects and lists that are open at the end of incomplete JSON, outermost first, each
 * with the key before it, and the key of the value that follows the text.
 */
function openContainers(text) {
  const containers = [];
  let key = null;
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|[{}[\],:]/g)) {
    if (token.startsWith('"')) {
      key ??= token.slice(1, -1);
    } else if (token !== ":") {
      if (token === "{" || token === "[") containers.push({ bracket: token, key });
      if (token === "}" || token === "]") containers.pop();
      key = null;
    }
  }
  return { containers, key };
}

/**
 * Returns the members of the innermost object, and the type of the items of the innermost list.
 *
 * The outermost container has the variables as its members.
 */
function membersAt(containers, variables, schema) {
  let members = variables.map(({ name, type }) => ({
    name, type: { name: type.replace(/[[\]!]/g, "") }, typeText: type,
  }));
  let itemType = null;
  for (const { bracket, key } of containers.slice(1)) {
    if (key) itemType = typeOfMember(members, key);
    if (bracket === "{") members = schema.type(namedType(itemType))?.inputFields ?? [];
  }
  return { members, itemType };
}

const typeOfMember = (members, name) => members.find((member) => member.name === name)?.type;

function suggestKeys(members) {
  return members.map((member) => makeSuggestion(member.name, {
    detail: member.typeText ?? typeReferenceText(member.type),
    insertText: `"${member.name}": `,
    definition: member,
  }));
}

function suggestValues(type) {
  if (type?.kind === "ENUM") {
    return type.enumValues.map((value) => makeSuggestion(value.name, {
      detail: type.name, insertText: `"${value.name}"`, definition: value,
    }));
  }
  if (type?.name === "Boolean") return [makeSuggestion("true"), makeSuggestion("false")];
  return [];
}
