// What can stand at the cursor: fields, arguments, values, types, directives, fragments; and in the variables, their members.
import { parse, tokens, typeOf } from "./parse.js";
import { named, typeText } from "./schema.js";

const executable = new Set(["QUERY", "MUTATION", "SUBSCRIPTION", "FIELD", "FRAGMENT_DEFINITION", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"]);
const entry = (text, type, { description, isDeprecated } = {}, insert = text) => ({
  text: insert, displayText: text, type, description, isDeprecated,
});
const members = (list, suffix = "") => list.map((one) =>
  entry(one.name, one.type ? typeText(one.type) : "", one, one.name + suffix));

// The hint for a document's text up to the cursor: { from, list }, `from` counted in characters.
export function completeQuery(text, offset, schema) {
  const before = text.slice(0, offset).replace(/[$@]?\w*$/, "");
  const prefix = text.slice(before.length, offset);
  const list = candidates(before, text, prefix, schema)
    .filter(({ text }) => text.toLowerCase().startsWith(prefix.toLowerCase()) && text !== prefix);
  return { from: before.length, list };
}

function candidates(before, text, prefix, schema) {
  const all = tokens(before);
  const last = all.at(-1)?.text;
  if (all.at(-1)?.isString && /"$/.test(before) === false) return [];
  if (prefix.startsWith("@")) {
    return schema.directives.filter((one) => one.locations.some((location) => executable.has(location)))
      .map((one) => entry(`@${one.name}`, "", one));
  }
  const inside = enclosing(all);
  if (inside?.text === "(") return inParentheses(before, all, inside, text, schema);
  const tree = parse(before);
  const node = innermost(tree);
  if (node.kind === "document") return atTop(all, schema);
  const type = typeOf(node, schema);
  if (!type) return [];
  if (last === "on") return schema.fragmentTypes(type).map((one) => entry(one.name, one.kind.toLowerCase(), one));
  if (last === "...") {
    const names = parse(text).children.filter((one) => one.kind === "definition" && one.name).map((one) => entry(one.name, `on ${one.type}`));
    return [entry("on", "", {}, "on "), ...names];
  }
  return [...members(type.fields ?? []), entry("__typename", "String!"), entry("... on", "", {}, "... on ")];
}

function atTop(all, schema) {
  if (all.at(-1)?.text === "on") {
    return schema.types.filter((type) => schema.isComposite(type) && !type.name.startsWith("__")).map((type) => entry(type.name, "", type));
  }
  if (["query", "mutation", "subscription", "fragment"].includes(all.at(-1)?.text)) return [];
  return [...schema.roots.keys(), "fragment"].map((word) => entry(word, ""));
}

// The innermost selection that is still open.
function innermost(node) {
  const last = node.children.at(-1);
  if (last?.kind === "document" || !last) return node;
  return last.open != null && last.close == null ? innermost(last) : node;
}

// The bracket that is open at the end, with what stands in it.
function enclosing(all) {
  const open = [];
  all.forEach((one, index) => {
    if ("([{".includes(one.text)) open.push({ ...one, index });
    else if (")]}".includes(one.text)) open.pop();
  });
  // Braces and brackets inside of parentheses are values.
  const parenthesis = open.findIndex((one) => one.text === "(");
  return parenthesis >= 0 ? { text: "(", index: open[parenthesis].index, values: open.slice(parenthesis) } : open.at(-1);
}

function inParentheses(before, all, { index, values }, text, schema) {
  const owner = all[index - 1];
  const tree = parse(before.slice(0, all[index].start));
  let input;
  if (owner?.text.startsWith("@")) {
    input = schema.directives.find((one) => `@${one.name}` === owner.text)?.args;
  } else if (innermost(tree).kind === "document") {
    return inVariables(all, schema);
  } else {
    const parent = innermost(tree);
    input = schema.field(typeOf(parent, schema), parent.children.at(-1)?.name)?.args;
  }
  // Down through the objects that are open, by the name before each.
  let type = null;
  for (const [depth, { index: at, text: bracket }] of values.entries()) {
    if (depth === 0) continue;
    const name = bracket === "{" || bracket === "[" ? nameBefore(all, at) : null;
    if (name) type = input?.find((one) => one.name === name)?.type;
    if (bracket === "{") {
      input = schema.type(named(type))?.inputFields;
      type = null;
    }
  }
  const last = all.at(-1);
  const isValue = last.text === ":" || last.text === "[" || (type && last.text !== "{");
  if (!isValue) {
    const open = values.at(-1).index;
    const given = new Set(all.slice(open).filter((one, at, rest) => rest[at + 1]?.text === ":").map((one) => one.text));
    return members((input ?? []).filter((one) => !given.has(one.name)), ": ");
  }
  const wanted = last.text === ":" ? input?.find((one) => one.name === all.at(-2)?.text)?.type : type;
  return valuesOf(schema.type(named(wanted)), text);
}

function nameBefore(all, at) {
  const colon = all[at - 1]?.text === ":" ? at - 1 : null;
  return colon != null ? all[colon - 1]?.text : null;
}

function valuesOf(type, text) {
  const variables = [...new Set(tokens(text).filter((one) => /^\$\w/.test(one.text)).map((one) => one.text))];
  const own = type?.kind === "ENUM" ? members(type.enumValues)
    : type?.name === "Boolean" ? [entry("true", ""), entry("false", "")]
    : type?.kind === "INPUT_OBJECT" ? [entry("{", type.name, type, "{ ")] : [];
  return [...own, ...variables.map((name) => entry(name, "variable"))];
}

function inVariables(all, schema) {
  if (all.at(-1).text !== ":" && all.at(-1).text !== "[") return [];
  return schema.types.filter((type) => schema.isInput(type) && !type.name.startsWith("__"))
    .map((type) => entry(type.name, type.kind.toLowerCase(), type));
}

// Members of the JSON of the variables, by the operation's types: { from, list }.
export function completeVariables(text, offset, variables, schema) {
  const start = text.slice(0, offset).match(/"?\w*$/)[0];
  const before = text.slice(0, offset - start.length);
  const word = start.replace(/^"/, "");
  const stack = [];
  let key = null;
  for (const [part] of before.matchAll(/"(?:\\.|[^"\\])*"|[{}[\],:]/g)) {
    if (part === "{" || part === "[") { stack.push({ part, key }); key = null; }
    else if (part === "}" || part === "]") { stack.pop(); key = null; }
    else if (part === ",") key = null;
    else if (part.startsWith('"') && key == null) key = part.slice(1, -1);
  }
  if (stack.length === 0) return { from: before.length, list: [] };
  let input = variables.map((one) => ({ name: one.name, type: { name: one.type.replace(/[[\]!]/g, "") }, text: one.type }));
  let type = null;
  for (const { part, key: name } of stack.slice(1)) {
    if (name) type = input?.find((one) => one.name === name)?.type;
    if (part === "{") input = schema.type(named(type))?.inputFields;
  }
  const isKey = /[{,]\s*$/.test(before) && stack.at(-1).part === "{";
  const list = isKey
    ? (input ?? []).map((one) => entry(one.name, one.text ?? typeText(one.type), one, `"${one.name}": `))
    : values(schema.type(named(key ? input?.find((one) => one.name === key)?.type : type)));
  return { from: before.length, list: list.filter((one) => one.displayText.startsWith(word)) };
}

function values(type) {
  if (type?.kind === "ENUM") return type.enumValues.map((one) => entry(one.name, type.name, one, `"${one.name}"`));
  if (type?.name === "Boolean") return [entry("true", ""), entry("false", "")];
  return [];
}

