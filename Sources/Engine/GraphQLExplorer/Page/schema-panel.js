// Shows the schema's documentation: all types, one type, or the results of a search.
import { elementByID, makeElement } from "./dom.js";
import { renderMarkdown } from "./markdown.js";
import { membersOf } from "./schema.js";
import { searchSchema } from "./schema-search.js";

const maxSearchResults = 100;

export class SchemaPanel {
  #searchField = elementByID("schema-search");
  #breadcrumbs = elementByID("schema-breadcrumbs");
  #content = elementByID("schema-content");
  #schema = null;
  /** The names of the types that the user opened one after another. The last one is shown. */
  #path = [];

  constructor() {
    this.#searchField.oninput = () => this.#show();
    this.#searchField.onkeydown = ({ key }) => {
      if (key === "Enter") this.#content.querySelector(".link")?.click();
      if (key === "Escape") this.#clearSearch();
    };
  }

  set schema(schema) {
    this.#schema = schema;
    elementByID("schema-download").hidden = false;
    this.#path = this.#path.filter((name) => schema.type(name));
    this.#show();
  }

  /** Shows a text in place of the schema, which cannot be downloaded then. */
  showMessage(text) {
    elementByID("schema-download").hidden = true;
    this.#content.replaceChildren(makeElement("p", {}, text));
  }

  focusSearch() { this.#searchField.focus(); }

  #clearSearch() {
    this.#searchField.value = "";
    this.#show();
  }

  /** Opens a type, and scrolls to a member if the coordinate has one: `Book`, `Book.title`. */
  open(coordinate) {
    if (!this.#schema) return;
    const [typeName, memberName] = coordinate.split(".");
    const index = this.#path.indexOf(typeName);
    this.#path = index >= 0 ? this.#path.slice(0, index + 1) : [...this.#path, typeName];
    this.#clearSearch();
    this.#content.scrollTop = 0;
    if (memberName) this.#showMember(memberName);
  }

  /** Scrolls to a member, and highlights it. */
  #showMember(name) {
    const entry = this.#content.querySelector(`[data-member="${name}"]`)?.closest("dt");
    entry?.classList.add("opened");
    entry?.scrollIntoView({ block: "center" });
  }

  #show() {
    if (!this.#schema) return;
    this.#breadcrumbs.replaceChildren(...this.#makeBreadcrumbs());
    this.#content.replaceChildren(...this.#makeContent());
  }

  #makeContent() {
    const searchText = this.#searchField.value.trim().toLowerCase();
    if (searchText) return this.#makeSearchResults(searchText);
    const type = this.#schema.type(this.#path.at(-1));
    return type ? this.#makeTypePage(type) : this.#makeOverview();
  }

  #makeBreadcrumbs() {
    if (this.#path.length === 0) return [];
    const showOverview = () => {
      this.#path = [];
      this.#show();
    };
    const home = makeElement("button", { type: "button", onclick: showOverview }, "Schema");
    return [home, ...this.#path.flatMap((name) => [
      "›", makeElement("button", { type: "button", onclick: () => this.open(name) }, name),
    ])];
  }

  // Pages

  #makeOverview() {
    const { description, rootTypes, ownTypes, directives } = this.#schema;
    const operations = [...rootTypes].map(([kind, type]) =>
      makeElement("li", {}, `${kind}: `, this.#makeLink(type.name)));
    const types = [...ownTypes].sort((first, second) => first.name.localeCompare(second.name));
    return [
      makeElement("h2", {}, "Schema"), ...this.#makeDescription(description),
      ...makeSection("Operations", operations, "ul"),
      ...makeSection("Types", types.flatMap((type) =>
        this.#makeEntry([this.#makeLink(type.name)], type))),
      ...makeSection("Directives", directives.flatMap((directive) =>
        this.#makeEntry([`@${directive.name}`, ...this.#makeArguments(directive.args)], directive))),
    ];
  }

  #makeTypePage(type) {
    const makeLinks = (coordinates) =>
      coordinates.map((coordinate) => makeElement("li", {}, this.#makeLink(coordinate)));
    const typeNames = (types) => (types ?? []).map(({ name }) => name);
    const uses = this.#schema.usesOfType(type.name)
      .map(([user, member]) => `${user.name}.${member.name}`);
    return [
      makeElement("h2", { className: "type-name" }, type.name), makeElement("p", {}, kindText(type)),
      ...this.#makeDescription(type.description), ...this.#makeDescription(type.specifiedByURL),
      ...makeSection("Implements", makeLinks(typeNames(type.interfaces)), "ul"),
      ...makeSection("Is one of", makeLinks(typeNames(type.possibleTypes)), "ul"),
      ...makeSection(type.enumValues ? "Values" : "Fields",
        membersOf(type).flatMap((member) => this.#makeMember(member))),
      ...makeSection("Used by", makeLinks(uses), "ul"),
    ];
  }

  #makeSearchResults(searchText) {
    const results = searchSchema(this.#schema, searchText);
    if (results.length === 0) {
      return [makeElement("p", {}, "No name and no description contains this text.")];
    }
    const hiddenCount = results.length - maxSearchResults;
    const entries = results.slice(0, maxSearchResults).flatMap(({ coordinate, definition }) =>
      this.#makeEntry([this.#makeLink(coordinate)], definition));
    const list = makeElement("dl", {}, ...entries);
    highlight(list, searchText);
    return [list, ...(hiddenCount > 0 ? [makeElement("p", {}, `and ${hiddenCount} more`)] : [])];
  }

  // Parts of pages

  #makeMember(member) {
    const name = makeElement("span", {
      className: member.isDeprecated ? "deprecated" : "", "data-member": member.name,
    }, member.name);
    const type = member.type ? [": ", this.#makeTypeReference(member.type)] : [];
    const defaultValue = member.defaultValue != null ? [` = ${member.defaultValue}`] : [];
    const args = this.#makeArguments(member.args ?? []);
    return this.#makeEntry([name, ...args, ...type, ...defaultValue], member);
  }

  #makeArguments(args) {
    if (args.length === 0) return [];
    const parts = args.flatMap(({ name, description, type, defaultValue }, index) => [
      index > 0 ? ", " : "",
      makeElement("span", { className: "argument", title: description ?? "" }, name), ": ",
      this.#makeTypeReference(type), defaultValue != null ? ` = ${defaultValue}` : "",
    ]);
    return ["(", ...parts, ")"];
  }

  #makeTypeReference({ kind, ofType, name }) {
    if (kind === "NON_NULL") return makeElement("span", {}, this.#makeTypeReference(ofType), "!");
    if (kind === "LIST") return makeElement("span", {}, "[", this.#makeTypeReference(ofType), "]");
    return this.#makeLink(name);
  }

  #makeLink(coordinate) {
    return makeElement("button", {
      type: "button", className: "link", onclick: () => this.open(coordinate),
    }, coordinate);
  }

  /** Makes an entry of a description list with the description and the reason of a deprecation. */
  #makeEntry(title, { description, isDeprecated, deprecationReason }) {
    const reason = deprecationReason ?? "no reason given";
    const texts = [description, isDeprecated ? `**Deprecated:** ${reason}` : null];
    return [
      makeElement("dt", {}, ...title),
      ...texts.filter(Boolean).map((text) => makeElement("dd", {}, ...this.#makeDescription(text))),
    ];
  }

  /** Makes the elements of a description. Code that names a part of the schema becomes a link. */
  #makeDescription(text) {
    if (!text) return [];
    return renderMarkdown(text, (code) => (this.#schema.has(code) ? this.#makeLink(code) : null));
  }
}

function kindText({ kind, isOneOf }) {
  if (kind === "INPUT_OBJECT") return isOneOf ? "input, exactly one of" : "input";
  return kind.toLowerCase();
}

/** Makes a heading and a list, or nothing for an empty list. */
function makeSection(heading, entries, listTag = "dl") {
  if (entries.length === 0) return [];
  return [makeElement("h3", {}, heading), makeElement(listTag, {}, ...entries)];
}

/** Marks each occurrence of a text in the descriptions of an element. */
function highlight(element, searchText) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (let node of nodes) {
    for (;;) {
      const index = node.data.toLowerCase().indexOf(searchText);
      if (index < 0) break;
      const found = node.splitText(index);
      node = found.splitText(searchText.length);
      const mark = makeElement("mark");
      found.replaceWith(mark);
      mark.append(found);
    }
  }
}
