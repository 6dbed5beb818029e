// Shows the schema's documentation: all types, one type, or the results of a search.
import { elementByID, makeElement } from "./dom.js";
import { isIntrospectionType } from "./schema.js";

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
    this.#path = this.#path.filter((name) => schema.type(name));
    this.#show();
  }

  showMessage(text) { this.#content.replaceChildren(makeElement("p", {}, text)); }

  focusSearch() { this.#searchField.focus(); }

  #clearSearch() {
    this.#searchField.value = "";
    this.#show();
  }

  /** Opens a type, and scrolls to a member if the coordinate has one: `Book`, `Book.title`. */
  #open(coordinate) {
    const [typeName, memberName] = coordinate.split(".");
    const index = this.#path.indexOf(typeName);
    this.#path = index >= 0 ? this.#path.slice(0, index + 1) : [...this.#path, typeName];
    this.#clearSearch();
    this.#content.parentElement.scrollTop = 0;
    if (memberName) this.#scrollToMember(memberName);
  }

  #scrollToMember(name) {
    this.#content.querySelector(`[data-member="${name}"]`)?.scrollIntoView({ block: "center" });
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
      "›", makeElement("button", { type: "button", onclick: () => this.#open(name) }, name),
    ])];
  }

  // Pages

  #makeOverview() {
    const { description, rootTypes, ownTypes, directives } = this.#schema;
    const operations = [...rootTypes].map(([kind, type]) =>
      makeElement("dt", {}, `${kind}: `, this.#makeLink(type.name)));
    const types = [...ownTypes].sort((first, second) => first.name.localeCompare(second.name));
    return [
      ...makeParagraph(description),
      ...makeSection("Operations", operations),
      ...makeSection("Types", types.flatMap((type) =>
        makeEntry([this.#makeLink(type.name)], type))),
      ...makeSection("Directives", directives.flatMap((directive) =>
        makeEntry([`@${directive.name}`, ...this.#makeArguments(directive.args)], directive))),
    ];
  }

  #makeTypePage(type) {
    const makeLinks = (coordinates) =>
      coordinates.map((coordinate) => makeElement("dt", {}, this.#makeLink(coordinate)));
    const typeNames = (types) => (types ?? []).map(({ name }) => name);
    const uses = this.#schema.usesOfType(type.name)
      .map(([user, member]) => `${user.name}.${member.name}`);
    return [
      makeElement("h3", {}, type.name), makeElement("p", {}, kindText(type)),
      ...makeParagraph(type.description), ...makeParagraph(type.specifiedByURL),
      ...makeSection("Implements", makeLinks(typeNames(type.interfaces))),
      ...makeSection("Is one of", makeLinks(typeNames(type.possibleTypes))),
      ...makeSection(type.enumValues ? "Values" : "Fields",
        membersOf(type).flatMap((member) => this.#makeMember(member))),
      ...makeSection("Used by", makeLinks(uses)),
    ];
  }

  #makeSearchResults(searchText) {
    const results = this.#schema.types.flatMap((type) => this.#makeResultsInType(type, searchText));
    if (results.length === 0) return [makeElement("p", {}, "No type or field has this name.")];
    const hiddenCount = results.length - maxSearchResults;
    return [
      makeElement("dl", {}, ...results.slice(0, maxSearchResults).flat()),
      ...makeParagraph(hiddenCount > 0 ? `and ${hiddenCount} more` : null),
    ];
  }

  #makeResultsInType(type, searchText) {
    const coordinateOf = (member) => `${type.name}.${member.name}`;
    const members = isIntrospectionType(type) ? [] : membersOf(type).filter((member) =>
      member.name.toLowerCase().includes(searchText)
        || coordinateOf(member).toLowerCase() === searchText);
    return [
      ...(type.name.toLowerCase().includes(searchText)
        ? [makeEntry([this.#makeLink(type.name)], type)] : []),
      ...members.map((member) => makeEntry([this.#makeLink(coordinateOf(member))], member)),
    ];
  }

  // Parts of pages

  #makeMember(member) {
    const name = makeElement("span", {
      className: member.isDeprecated ? "deprecated" : "", "data-member": member.name,
    }, member.name);
    const type = member.type ? [": ", this.#makeTypeReference(member.type)] : [];
    const defaultValue = member.defaultValue != null ? [` = ${member.defaultValue}`] : [];
    const args = this.#makeArguments(member.args ?? []);
    return makeEntry([name, ...args, ...type, ...defaultValue], member);
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
      type: "button", className: "link", onclick: () => this.#open(coordinate),
    }, coordinate);
  }
}

const membersOf = ({ fields, inputFields, enumValues }) =>
  [...(fields ?? []), ...(inputFields ?? []), ...(enumValues ?? [])];

function kindText({ kind, isOneOf }) {
  if (kind === "INPUT_OBJECT") return isOneOf ? "input, exactly one of" : "input";
  return kind.toLowerCase();
}

const makeParagraph = (text) => (text ? [makeElement("p", {}, text)] : []);

/** Makes a heading and a description list, or nothing for an empty list. */
function makeSection(heading, entries) {
  if (entries.length === 0) return [];
  return [makeElement("h4", {}, heading), makeElement("dl", {}, ...entries)];
}

/** Makes an entry of a description list with the description and the reason of a deprecation. */
function makeEntry(title, { description, isDeprecated, deprecationReason }) {
  const deprecation = isDeprecated ? `Deprecated: ${deprecationReason ?? "no reason given"}` : null;
  return [
    makeElement("dt", {}, ...title),
    ...[description, deprecation].filter(Boolean).map((text) => makeElement("dd", {}, text)),
  ];
}
