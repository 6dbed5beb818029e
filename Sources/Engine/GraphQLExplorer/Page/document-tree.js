// Parses GraphQL documents that may be incomplete into a tree of their selections.
//
// The parser accepts any text. The server reports the errors of a document.
import { parseInputs } from "./document-inputs.js";
import { namedType } from "./schema.js";

const tokenPattern = new RegExp([
  String.raw`(?<string>"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)`,
  String.raw`(?<comment>#[^\n]*)`,
  String.raw`(?<variable>\$\w*)`,
  String.raw`(?<directive>@\w*)`,
  String.raw`(?<name>[_A-Za-z]\w*)`,
  String.raw`(?<punctuator>\.\.\.|[{}()[\]:!=|&])`,
  String.raw`(?<number>-?\d[\w.+-]*)`,
].join("|"), "g");

/**
 * A lexical token of a document.
 *
 * @typedef {object} Token
 * @property {"string"|"variable"|"directive"|"name"|"punctuator"|"number"} kind
 * @property {string} text
 * @property {number} start The offset of its first character in the document.
 * @property {number} end The offset after its last character.
 */

/**
 * A part of a document. Its kind is that of the operation ("query", "mutation", "subscription"),
 * or "document", "fragmentDefinition", "field", "inlineFragment", or "fragmentSpread".
 *
 * @typedef {object} DocumentNode
 * @property {string} kind
 * @property {?string} name
 * @property {?string} typeCondition The type of a fragment definition or an inline fragment.
 * @property {boolean} isShorthand Whether it is a query without the keyword `query`.
 * @property {number} start The offset of its first character in the document.
 * @property {number} end The offset after its last character.
 * @property {number} headerEnd The offset after its name, where arguments or variables begin.
 * @property {?number} open The offset of the parenthesis that opens its arguments or variables.
 * @property {?number} close The offset of the parenthesis that closes them.
 * @property {import("./document-inputs.js").Input[]} inputs Its arguments or variables.
 * @property {?number} openBrace The offset of the brace that opens its selection set.
 * @property {?number} closeBrace The offset of the brace that closes it, or null if it is missing.
 * @property {?DocumentNode} parent
 * @property {DocumentNode[]} children
 */

/**
 * Returns the tokens of a document without its comments.
 *
 * @returns {Token[]}
 */
export function tokenize(text) {
  return [...text.matchAll(tokenPattern)].map((match) => ({
    kind: Object.keys(match.groups).find((kind) => match.groups[kind] != null),
    text: match[0], start: match.index, end: match.index + match[0].length,
  })).filter((token) => token.kind !== "comment");
}

/**
 * Returns the root of the tree, a node of the kind "document".
 *
 * @returns {DocumentNode}
 */
export const parseDocument = (text) => new DocumentParser(text).parse();

/** Returns the schema type that a node selects fields from, or a null value if it is unknown. */
export function selectedType(node, schema) {
  if (!node || node.kind === "document") return null;
  if (schema.rootTypes.has(node.kind)) return schema.rootTypes.get(node.kind);
  if (node.typeCondition) return schema.type(node.typeCondition);
  const parentType = selectedType(node.parent, schema);
  if (node.kind === "inlineFragment") return parentType;
  const field = schema.field(parentType, node.name);
  return field ? schema.type(namedType(field.type)) : null;
}

/** Returns the operations of a document, each with its kind and its name or null. */
export const documentOperations = (text) =>
  parseDocument(text).children.filter(({ kind }) => operationKeywords.includes(kind));

/** Returns a short title for a document: the name of its first operation or of its first field. */
export function documentTitle(text) {
  const operation = parseDocument(text).children.find((node) => node.kind !== "fragmentDefinition");
  return (operation?.name ?? operation?.children[0]?.name ?? "new").slice(0, 24);
}

const operationKeywords = ["query", "mutation", "subscription"];

class DocumentParser {
  #text;
  #tokens;
  #index = 0;
  #root = makeNode({ kind: "document", parent: null });
  /** The node whose selection set contains the next token, or the root outside of all. */
  #parent = this.#root;
  /** The node that a following brace, argument list, or directive belongs to. */
  #current = this.#root;

  constructor(text) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  parse() {
    while (this.#index < this.#tokens.length) {
      this.#parseToken(this.#tokens[this.#index]);
      this.#index += 1;
    }
    return this.#root;
  }

  #parseToken(token) {
    if (token.text === "{") this.#openSelectionSet(token);
    else if (token.text === "}") this.#closeSelectionSet(token);
    else if (token.text === "(") this.#parseParentheses(token);
    else if (token.text === "...") this.#parseFragment(token);
    else if (token.kind === "directive") this.#current.end = token.end;
    else if (token.kind === "name" && this.#parent === this.#root) this.#parseDefinition(token);
    else if (token.kind === "name") this.#parseField(token);
  }

  #openSelectionSet(token) {
    const hasDefinition = this.#current !== this.#root && this.#current.openBrace == null;
    if (this.#parent === this.#root && !hasDefinition) {
      this.#addNode({
        kind: "query", isShorthand: true, start: token.start, end: token.end,
        headerEnd: token.start,
      });
    }
    this.#current.openBrace = token.start;
    this.#current.end = token.end;
    this.#parent = this.#current;
  }

  #closeSelectionSet(token) {
    if (this.#parent === this.#root) return;
    this.#current = this.#parent;
    this.#current.closeBrace = token.start;
    this.#parent = this.#current.parent;
    for (let node = this.#current; node !== this.#root; node = node.parent) node.end = token.end;
  }

  /** Reads arguments or variables. Those of directives are skipped. */
  #parseParentheses({ start }) {
    const closeIndex = this.#closingBracketIndex();
    const close = this.#tokens[closeIndex];
    const tokens = this.#tokens.slice(this.#index + 1, closeIndex);
    if (this.#tokens[this.#index - 1]?.kind !== "directive" && close.text === ")") {
      Object.assign(this.#current, {
        open: start, close: close.start, inputs: parseInputs(tokens, this.#text),
      });
    }
    this.#current.end = close.end;
    this.#index = closeIndex;
  }

  /** Returns the index of the token that closes the bracket at the current one, or of the last. */
  #closingBracketIndex() {
    let depth = 0;
    for (let index = this.#index; index < this.#tokens.length; index += 1) {
      if ("([{".includes(this.#tokens[index].text)) depth += 1;
      else if (")]}".includes(this.#tokens[index].text)) depth -= 1;
      if (depth === 0) return index;
    }
    return this.#tokens.length - 1;
  }

  #parseFragment({ start, end }) {
    const next = this.#tokenAfter(1);
    const condition = this.#tokenAfter(2);
    if (next?.text === "on" && condition?.kind === "name") {
      this.#addNode({
        kind: "inlineFragment", typeCondition: condition.text, start, end: condition.end,
      });
      this.#index += 2;
    } else if (next?.kind === "name" && next.text !== "on") {
      this.#addNode({ kind: "fragmentSpread", name: next.text, start, end: next.end });
      this.#index += 1;
    } else {
      this.#addNode({ kind: "inlineFragment", start, end });
    }
  }

  #parseDefinition(keyword) {
    if (operationKeywords.includes(keyword.text)) this.#parseOperation(keyword);
    else if (keyword.text === "fragment") this.#parseFragmentDefinition(keyword);
  }

  #parseOperation({ text: kind, start, end }) {
    const next = this.#tokenAfter(1);
    const name = next?.kind === "name" ? next : null;
    this.#addNode({ kind, name: name?.text ?? null, start, end: name?.end ?? end });
    if (name) this.#index += 1;
  }

  #parseFragmentDefinition({ start, end }) {
    const condition = this.#tokenAfter(2)?.text === "on" ? this.#tokenAfter(3) : null;
    this.#addNode({
      kind: "fragmentDefinition", name: this.#tokenAfter(1)?.text ?? null,
      typeCondition: condition?.text ?? null, start, end: condition?.end ?? end,
    });
    this.#index += condition ? 3 : 1;
  }

  #parseField(token) {
    const colon = this.#tokenAfter(1)?.text === ":" ? this.#tokenAfter(1) : null;
    if (!colon) {
      this.#addNode({ kind: "field", name: token.text, start: token.start, end: token.end });
      return;
    }
    // The token is an alias, and the name after the colon may be missing.
    const name = this.#tokenAfter(2)?.kind === "name" ? this.#tokenAfter(2) : null;
    this.#addNode({
      kind: "field", name: name?.text ?? null, start: token.start, end: (name ?? colon).end,
    });
    this.#index += name ? 2 : 1;
  }

  #tokenAfter(distance) { return this.#tokens[this.#index + distance]; }

  #addNode(properties) {
    this.#current = makeNode({ parent: this.#parent, headerEnd: properties.end, ...properties });
    this.#parent.children.push(this.#current);
  }
}

function makeNode(properties) {
  return {
    name: null, typeCondition: null, isShorthand: false, open: null, close: null, inputs: [],
    openBrace: null, closeBrace: null, children: [], ...properties,
  };
}
