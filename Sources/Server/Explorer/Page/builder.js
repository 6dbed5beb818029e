// A query by clicks: the schema's fields as a tree, those that the document asks for ticked. A click adds or takes away text.
import { make } from "./dom.js";
import { parse, typeOf } from "./parse.js";
import { isRequired, named, typeText } from "./schema.js";

const nameFor = (kind) => `My${kind[0].toUpperCase()}${kind.slice(1)}`;

export class Builder {
  // `edit` takes the new text.
  constructor(element, edit) {
    Object.assign(this, { element, edit, schema: null, text: "", opened: new Set() });
  }

  update(text, schema = this.schema) {
    Object.assign(this, { text, schema });
    if (schema && !this.element.closest("[hidden]")) this.show();
  }

  say(text) { this.element.replaceChildren(make("li", {}, text)); }

  show() {
    const tree = parse(this.text);
    const focus = document.activeElement?.dataset?.path;
    this.element.replaceChildren(...[...this.schema.roots].map(([kind, type]) => {
      const operation = tree.children.find((node) => node.kind === kind);
      return make("li", {}, make("h3", {}, kind), this.list(type, operation, [kind]));
    }));
    if (focus) this.element.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
  }

  list(type, node, path) {
    const fields = (type.fields ?? []).filter((field) => !field.isDeprecated);
    const fragments = type.possibleTypes && type.kind !== "OBJECT" ? type.possibleTypes.map(({ name }) => `... on ${name}`) : [];
    return make("ul", {}, ...fields.map((field) => this.field(field, node, path)),
      ...fragments.map((fragment) => this.fragment(fragment, node, path)));
  }

  item(label, { title, className = "" }, child, key, type, path) {
    const isComposite = this.schema.isComposite(type);
    const id = path.join("/");
    const isOpen = isComposite && (child != null || this.opened.has(id));
    const tick = make("button", {
      type: "button", className: `tick ${className}`, role: "checkbox", "aria-checked": String(child != null), title, "data-path": id,
      onclick: () => this.toggle(path, child),
    }, label);
    const open = isComposite && child == null ? [make("button", {
      type: "button", className: "open", "aria-expanded": String(isOpen), "aria-label": `Fields of ${key}`, "data-path": `${id}?`,
      onclick: () => { if (!this.opened.delete(id)) this.opened.add(id); this.show(); },
    }, isOpen ? "▾" : "▸")] : [];
    return make("li", {}, tick, ...open, ...(isOpen ? [this.list(type, child, path)] : []));
  }

  field(field, node, path) {
    const child = node?.children.find((one) => one.kind === "field" && one.name === field.name);
    const args = field.args.length ? `(${field.args.map((arg) => `${arg.name}: ${typeText(arg.type)}`).join(", ")})` : "";
    return this.item(field.name, { title: `${field.name}${args}: ${typeText(field.type)}\n${field.description ?? ""}` },
      child, field.name, this.schema.type(named(field.type)), [...path, field.name]);
  }

  fragment(name, node, path) {
    const type = name.slice("... on ".length);
    const child = node?.children.find((one) => one.kind === "fragment" && one.type === type);
    return this.item(name, { title: `Only of ${type}`, className: "fragment" }, child, name, this.schema.type(type), [...path, name]);
  }

  toggle(path, child) {
    this.edit(child ? this.without(child) : this.with(path));
  }

  // A selection that would be empty goes too, up to the operation.
  without(node) {
    while (node.parent.kind !== "document" && node.parent.children.length === 1) node = node.parent;
    return this.text.slice(0, node.start).trimEnd() + this.text.slice(node.end);
  }

  with([kind, ...names]) {
    const operations = parse(this.text).children.filter((one) => this.schema.roots.has(one.kind));
    let node = operations.find((one) => one.kind === kind);
    if (!node) {
      // Of several operations each needs a name.
      const head = operations.length > 0 ? `${kind} ${nameFor(kind)}` : kind;
      return `${this.named(operations).trimEnd()}\n\n${head} {\n  ${this.written(this.schema.roots.get(kind), names)}\n}\n`.trimStart();
    }
    for (;;) {
      const child = node.children.find((one) => (one.kind === "fragment" ? `... on ${one.type}` : one.name) === names[0]);
      if (!child) break;
      node = child;
      names.shift();
    }
    const text = this.written(typeOf(node, this.schema), names);
    if (node.open == null) return `${this.text.slice(0, node.end)} { ${text} }${this.text.slice(node.end)}`;
    const end = node.close ?? this.text.length;
    return `${this.text.slice(0, end).trimEnd()} ${text} ${this.text.slice(end)}`;
  }

  // The text with a name for the operation that has none.
  named(operations) {
    const [one] = operations.filter((operation) => !operation.name);
    if (!one) return this.text;
    const end = one.isShorthand ? one.start : one.start + one.kind.length;
    const name = one.isShorthand ? `query ${nameFor("query")} ` : ` ${nameFor(one.kind)}`;
    return this.text.slice(0, end) + name + this.text.slice(end);
  }

  // Fields inside one another, with the arguments they need; the innermost object is asked for something that every one has.
  written(type, [name, ...rest]) {
    const isFragment = name.startsWith("... on ");
    const field = isFragment ? null : this.schema.field(type, name);
    const inner = isFragment ? this.schema.type(name.slice("... on ".length)) : this.schema.type(named(field.type));
    const required = (field?.args ?? []).filter(isRequired).map((arg) => `${arg.name}: ${this.example(arg.type)}`);
    const head = required.length ? `${name}(${required.join(", ")})` : name;
    if (rest.length > 0) return `${head} { ${this.written(inner, rest)} }`;
    if (!this.schema.isComposite(inner)) return head;
    if (this.schema.field(inner, "nodes")) return `${head} { ${this.written(inner, ["nodes"])} }`;
    const first = inner.fields?.find((one) => one.name === "id")?.name ?? inner.fields?.find((one) =>
      one.args.length === 0 && !this.schema.isComposite(this.schema.type(named(one.type))))?.name;
    return `${head} { ${first ?? "__typename"} }`;
  }

  example(type) {
    if (type.kind === "NON_NULL") return this.example(type.ofType);
    if (type.kind === "LIST") return `[${this.example(type.ofType)}]`;
    const definition = this.schema.type(type.name);
    if (definition.kind === "ENUM") return definition.enumValues[0].name;
    if (definition.kind === "INPUT_OBJECT") {
      const fields = definition.isOneOf ? definition.inputFields.slice(0, 1) : definition.inputFields.filter(isRequired);
      return `{ ${fields.map((one) => `${one.name}: ${this.example(one.type)}`).join(", ")} }`;
    }
    return { Int: "0", Float: "0", Boolean: "false" }[type.name] ?? '""';
  }
}

