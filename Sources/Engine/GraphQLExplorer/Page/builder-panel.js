// Shows the schema's fields as a tree. A click on a field adds it to the query or removes it.
import { BuilderInputs } from "./builder-inputs.js";
import { addSelection, childWithKey, fragmentKey, removeSelection } from "./document-edits.js";
import { parseDocument } from "./document-tree.js";
import { elementByID, makeElement } from "./dom.js";
import { isComposite, namedType, typeReferenceText } from "./schema.js";

export class BuilderPanel {
  #tree = elementByID("builder-tree");
  #schema = null;
  #query = "";
  /** The paths whose fields are shown although the query does not contain them. */
  #expandedPaths = new Set();
  #onEdit;
  #inputs;

  /**
   * @param {object} options
   * @param {Function} options.onEdit Receives an `Edit` of the query after a click.
   * @param {Function} options.getVariables Returns the values of the variables.
   */
  constructor({ onEdit, getVariables }) {
    this.#onEdit = onEdit;
    this.#inputs = new BuilderInputs({ onEdit, getVariables });
  }

  set schema(schema) {
    this.#schema = schema;
    this.update();
  }

  set query(text) {
    this.#query = text;
    this.update();
  }

  showMessage(text) { this.#tree.replaceChildren(makeElement("li", {}, text)); }

  /** Draws the tree again if the panel is visible. The focus stays on the same field. */
  update() {
    if (!this.#schema || this.#tree.closest("[hidden]")) return;
    const focusedPath = document.activeElement?.dataset?.path;
    const tree = parseDocument(this.#query);
    this.#tree.replaceChildren(...[...this.#schema.rootTypes].map(([kind, type]) => {
      const operation = tree.children.find((node) => node.kind === kind);
      return makeElement("li", {},
        makeElement("h3", {}, kind), this.#makeList(type, operation, [kind]));
    }));
    if (focusedPath == null) return;
    this.#tree.querySelector(`[data-path="${CSS.escape(focusedPath)}"]`)?.focus();
  }

  /**
   * Makes the list of a type's fields.
   *
   * @param node The node of the query that selects from the type, if there is one.
   * @param path The kind of the operation and the keys of the selections.
   */
  #makeList(type, node, path) {
    const fields = (type.fields ?? []).filter((field) => !field.isDeprecated);
    const possibleTypes = type.kind === "OBJECT" ? [] : type.possibleTypes ?? [];
    return makeElement("ul", {},
      ...fields.map((field) => this.#makeFieldItem(field, node, path)),
      ...possibleTypes.map(({ name }) => this.#makeFragmentItem(name, node, path)));
  }

  #makeFieldItem(field, node, path) {
    const args = field.args.map(({ name, type }) => `${name}: ${typeReferenceText(type)}`);
    const argsText = args.length > 0 ? `(${args.join(", ")})` : "";
    const signature = `${field.name}${argsText}: ${typeReferenceText(field.type)}`;
    return this.#makeItem({
      key: field.name, title: `${signature}\n${field.description ?? ""}`,
      type: this.#schema.type(namedType(field.type)), args: field.args,
    }, node, path);
  }

  #makeFragmentItem(typeName, node, path) {
    return this.#makeItem({
      key: fragmentKey(typeName), title: `Only for the type ${typeName}`,
      type: this.#schema.type(typeName),
    }, node, path);
  }

  #makeItem({ key, title, type, args = [] }, parent, parentPath) {
    const node = childWithKey(parent, key);
    const path = [...parentPath, key];
    const pathText = path.join("/");
    const isExpanded = isComposite(type) && (node != null || this.#expandedPaths.has(pathText));
    const checkbox = makeElement("button", {
      type: "button", className: "checkbox", role: "checkbox", title,
      "aria-checked": String(node != null), "data-path": pathText,
      onclick: () => this.#toggleSelection(path, node),
    }, key);
    const hasExpander = isComposite(type) && node == null;
    return makeElement("li", {}, checkbox,
      ...(hasExpander ? [this.#makeExpander(key, pathText, isExpanded)] : []),
      ...(node && args.length > 0 ? [this.#inputs.makeList(args, {
        text: this.#query, schema: this.#schema, field: node, container: node, path: pathText,
      })] : []),
      ...(isExpanded ? [this.#makeList(type, node, path)] : []));
  }

  #makeExpander(key, pathText, isExpanded) {
    return makeElement("button", {
      type: "button", "aria-expanded": String(isExpanded), "aria-label": `Fields of ${key}`,
      "data-path": `${pathText}?`, onclick: () => this.#toggleExpansion(pathText),
    }, isExpanded ? "▾" : "▸");
  }

  #toggleExpansion(pathText) {
    if (!this.#expandedPaths.delete(pathText)) this.#expandedPaths.add(pathText);
    this.update();
  }

  #toggleSelection(path, node) {
    this.#onEdit({
      query: node
        ? removeSelection(this.#query, node) : addSelection(this.#query, path, this.#schema),
    });
  }
}
