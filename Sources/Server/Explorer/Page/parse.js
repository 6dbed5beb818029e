// Reads a document that may be half written: a tree of selections with their places, for completion and for building by
// clicks. What is wrong with it is for the server's validator to say.

const token = /("""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(#[^\n]*)|([$@]?[_A-Za-z]\w*|\$|@)|(\.\.\.|[{}()[\]:!=|&])|(-?\d[\w.+-]*)/g;

export function tokens(text) {
  return [...text.matchAll(token)].filter((match) => !match[2]).map((match) => ({
    text: match[0], start: match.index, end: match.index + match[0].length, isString: Boolean(match[1]), isName: Boolean(match[3]),
  }));
}

// { kind, name, type, start, open, close, children, parent }: definitions and fields alike. `open` and `close` are the places
// of the braces; close is null where it is missing.
export function parse(text) {
  const all = tokens(text);
  const root = { kind: "document", children: [], parent: null };
  let node = root;  // whose selection we are in, or the document
  let last = root;  // what a brace or a parenthesis that follows belongs to
  let index = 0;
  const add = (kind, start, end, more) => {
    last = { kind, start, end, children: [], parent: node, open: null, close: null, args: null, ...more };
    node.children.push(last);
  };
  while (index < all.length) {
    const { text: word, start, end, isName } = all[index];
    const next = all[index + 1];
    if (word === "{") {
      if (node === root && (last === root || last.open != null)) add("query", start, end, { isShorthand: true });
      last.open = start;
      last.end = end;
      node = last;
    } else if (word === "}") {
      if (node !== root) {
        Object.assign(node, { close: start, end });
        last = node;
        node = node.parent;
        for (let up = node; up && up !== root; up = up.parent) up.end = end;
      }
    } else if (word === "(") {
      const close = closing(all, index);
      last.args = { open: start, end: all[close]?.end ?? text.length, names: argumentNames(all, index, close) };
      last.end = last.args.end;
      index = close;
    } else if (word === "...") {
      if (next?.text === "on" && all[index + 2]?.isName) {
        add("fragment", start, all[index + 2].end, { type: all[index + 2].text });
        index += 2;
      } else if (next?.isName && next.text !== "on" && !next.text.startsWith("@")) {
        add("spread", start, next.end, { name: next.text });
        index += 1;
      } else {
        add("fragment", start, end, { type: null });
      }
    } else if (isName && word.startsWith("@")) {
      last.end = end;
    } else if (isName && node === root) {
      if (["query", "mutation", "subscription"].includes(word)) {
        const isNamed = next?.isName && !next.text.startsWith("@");
        add(word, start, isNamed ? next.end : end, { name: isNamed ? next.text : null });
        if (isNamed) index += 1;
      } else if (word === "fragment") {
        const type = all[index + 2]?.text === "on" ? all[index + 3] : null;
        add("definition", start, type?.end ?? end, { name: next?.text, type: type?.text });
        index += type ? 3 : 1;
      }
    } else if (isName && !word.startsWith("$")) {
      const isAlias = next?.text === ":";
      const field = isAlias ? all[index + 2] : all[index];
      add("field", start, field?.isName ? field.end : next?.end ?? end, {
        name: field?.isName ? field.text : null, alias: isAlias ? word : null,
      });
      if (isAlias) index += field?.isName ? 2 : 1;
    }
    index += 1;
  }
  return root;
}

// The index of the token that closes the one at `index`, or of the last.
function closing(all, index) {
  let depth = 0;
  for (let at = index; at < all.length; at += 1) {
    if ("([{".includes(all[at].text)) depth += 1;
    else if (")]}".includes(all[at].text)) depth -= 1;
    if (depth === 0) return at;
  }
  return all.length - 1;
}

function argumentNames(all, open, close) {
  const names = [];
  let depth = 0;
  for (let at = open; at < close; at += 1) {
    if ("([{".includes(all[at].text)) depth += 1;
    else if (")]}".includes(all[at].text)) depth -= 1;
    else if (depth === 1 && all[at].isName && all[at + 1]?.text === ":") names.push(all[at].text);
  }
  return names;
}

// The schema's type behind a node: what its selection may ask of.
export function typeOf(node, schema) {
  if (!node || node.kind === "document") return null;
  if (schema.roots.has(node.kind)) return schema.roots.get(node.kind);
  if (node.type) return schema.type(node.type);
  const parent = typeOf(node.parent, schema);
  if (node.kind === "fragment") return parent;
  const field = schema.field(parent, node.name);
  return field ? schema.type(namedType(field.type)) : null;
}

const namedType = (type) => (type.ofType ? namedType(type.ofType) : type.name);
