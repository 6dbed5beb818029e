// Shows the schema: one type or one search at a time, with links to where each type is used.
import { make } from "./dom.js";
import { named } from "./schema.js";

const resultsMax = 100;

export class Docs {
  constructor({ search, trail, page }) {
    Object.assign(this, { search, trail, page, schema: null, path: [] });
    search.addEventListener("input", () => this.show());
    search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.page.querySelector(".link")?.click();
      if (event.key === "Escape") { search.value = ""; this.show(); }
    });
  }

  set(schema) {
    this.schema = schema;
    this.path = this.path.filter((name) => schema.type(name));
    this.show();
  }

  say(text) { this.page.replaceChildren(make("p", {}, text)); }

  // Opens a type, and with a member's name goes there: `Book`, `Book.title`.
  open(coordinate) {
    const [name, member] = coordinate.split(".");
    const known = this.path.indexOf(name);
    this.path = known >= 0 ? this.path.slice(0, known + 1) : [...this.path, name];
    this.search.value = "";
    this.show();
    this.page.parentElement.scrollTop = 0;
    if (member) this.page.querySelector(`[data-member="${member}"]`)?.scrollIntoView({ block: "center" });
  }

  show() {
    if (!this.schema) return;
    const words = this.search.value.trim().toLowerCase();
    const type = this.schema.type(this.path.at(-1));
    this.trail.replaceChildren(...this.crumbs());
    this.page.replaceChildren(...(words ? this.found(words) : type ? this.type(type) : this.roots()));
  }

  crumbs() {
    if (this.path.length === 0) return [];
    const home = make("button", { type: "button", onclick: () => { this.path = []; this.show(); } }, "Schema");
    return [home, ...this.path.flatMap((name) => [
      "›", make("button", { type: "button", onclick: () => this.open(name) }, name),
    ])];
  }

  roots() {
    const roots = [...this.schema.roots].map(([word, type]) => make("dt", {}, `${word}: `, this.link(type.name)));
    const types = this.schema.types.filter((type) => !type.name.startsWith("__"))
      .sort((a, b) => a.name.localeCompare(b.name));
    return [
      ...this.text(this.schema.description), make("h4", {}, "Operations"), make("dl", {}, ...roots),
      make("h4", {}, "Types"), make("dl", {}, ...types.flatMap((type) => this.entry([this.link(type.name)], type))),
      make("h4", {}, "Directives"),
      make("dl", {}, ...this.schema.directives.flatMap((directive) =>
        this.entry([`@${directive.name}`, ...this.args(directive.args)], directive))),
    ];
  }

  type(type) {
    const lists = [["Implements", type.interfaces], ["Is one of", type.possibleTypes]]
      .filter(([, types]) => types?.length).flatMap(([title, types]) => [
        make("h4", {}, title),
        make("dl", {}, ...types.map(({ name }) => make("dt", {}, this.link(name)))),
      ]);
    const members = [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])];
    const words = { INPUT_OBJECT: type.isOneOf ? "input, exactly one of" : "input" };
    const uses = this.schema.uses(type.name);
    return [
      make("h3", {}, type.name), make("p", {}, words[type.kind] ?? type.kind.toLowerCase()),
      ...this.text(type.description), ...this.text(type.specifiedByURL), ...lists,
      ...(members.length ? [make("h4", {}, type.enumValues ? "Values" : "Fields")] : []),
      make("dl", {}, ...members.flatMap((member) => this.member(member))),
      ...(uses.length ? [make("h4", {}, "Used by")] : []),
      make("dl", {}, ...uses.map(([other, member]) => make("dt", {}, this.link(`${other.name}.${member.name}`)))),
    ];
  }

  found(words) {
    const hits = [];
    for (const type of this.schema.types) {
      if (type.name.toLowerCase().includes(words)) hits.push(this.entry([this.link(type.name)], type));
      for (const member of [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])]) {
        const coordinate = `${type.name}.${member.name}`;
        const isHit = member.name.toLowerCase().includes(words) || coordinate.toLowerCase() === words;
        if (type.name.startsWith("__") || !isHit) continue;
        hits.push(this.entry([this.link(coordinate)], member));
      }
    }
    if (hits.length === 0) return [make("p", {}, "Nothing has this name.")];
    const more = hits.length - resultsMax;
    return [
      make("dl", {}, ...hits.slice(0, resultsMax).flat()),
      ...(more > 0 ? [make("p", {}, `and ${more} more`)] : []),
    ];
  }

  member(member) {
    const name = make("span", {
      className: member.isDeprecated ? "deprecated" : "", "data-member": member.name,
    }, member.name);
    const type = member.type ? [": ", this.reference(member.type)] : [];
    const value = member.defaultValue != null ? [` = ${member.defaultValue}`] : [];
    return this.entry([name, ...this.args(member.args ?? []), ...type, ...value], member);
  }

  args(args) {
    if (args.length === 0) return [];
    const parts = args.flatMap((arg, index) => [
      index > 0 ? ", " : "", make("span", { className: "argument", title: arg.description ?? "" }, arg.name), ": ",
      this.reference(arg.type), arg.defaultValue != null ? ` = ${arg.defaultValue}` : "",
    ]);
    return ["(", ...parts, ")"];
  }

  reference(type) {
    if (type.kind === "NON_NULL") return make("span", {}, this.reference(type.ofType), "!");
    if (type.kind === "LIST") return make("span", {}, "[", this.reference(type.ofType), "]");
    return this.link(named(type));
  }

  link(coordinate) {
    return make("button", { type: "button", className: "link", onclick: () => this.open(coordinate) }, coordinate);
  }

  entry(title, { description, isDeprecated, deprecationReason }) {
    const why = isDeprecated ? `Deprecated: ${deprecationReason ?? "no reason given"}` : null;
    return [
      make("dt", {}, ...title),
      ...[description, why].filter(Boolean).map((text) => make("dd", {}, text)),
    ];
  }

  text(text) { return text ? [make("p", {}, text)] : []; }
}
