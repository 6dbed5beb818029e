// Shows the arguments of a selected field, and the fields of the input objects in them.
import { makeElement } from "./dom.js";
import { addInput, removeInput, replaceInputs, setValue, useLiteral, useVariable } from "./input-edits.js";
import { exampleValue } from "./example-value.js";
import { formatLiteral } from "./literals.js";
import { namedType, typeReferenceText } from "./schema.js";

/**
 * Where inputs are.
 *
 * @typedef {object} InputContext
 * @property {string} text The document.
 * @property {import("./schema.js").Schema} schema
 * @property {import("./document-tree.js").DocumentNode} field The field that has the arguments.
 * @property {object} container The field, or the input whose value is an object.
 * @property {boolean} [isOneOf] Whether the object accepts exactly one field.
 * @property {string} path The path of the container.
 */

export class BuilderInputs {
  #onEdit;
  #getVariables;

  constructor({ onEdit, getVariables }) {
    this.#onEdit = onEdit;
    this.#getVariables = getVariables;
  }

  /**
   * Makes the list of the inputs that a container accepts.
   *
   * @param {object[]} definitions
   * @param {InputContext} context
   */
  makeList(definitions, context) {
    return makeElement("ul", {}, ...definitions
      .filter(({ name, isDeprecated }) =>
        !isDeprecated || context.container.inputs.some((input) => input.name === name))
      .map((definition) => this.#makeItem(definition, context)));
  }

  #makeItem(definition, context) {
    const { name, type, description } = definition;
    const input = context.container.inputs.find((candidate) => candidate.name === name);
    const typeText = typeReferenceText(type);
    const path = `${context.path}(${name})`;
    const row = makeElement("div", { className: "builder-input" }, makeElement("button", {
      type: "button", className: "checkbox input", role: "checkbox",
      title: `${name}: ${typeText}\n${description ?? ""}`,
      "aria-checked": String(input != null), "data-path": path,
      onclick: () => this.#toggle(definition, input, context),
    }, `${name}:`), ...(input ? this.#makeValue(definition, input, context, path) : []));
    return makeElement("li", {}, row, ...this.#makeFields(definition, input, context, path));
  }

  #toggle(definition, input, { text, schema, field, container, isOneOf }) {
    if (input) this.#onEdit(removeInput(text, container, input));
    else if (isOneOf) this.#onEdit(replaceInputs(text, field, container, definition, schema));
    else this.#onEdit(addInput(text, field, container, definition, schema));
  }

  /** Makes the list of the fields of an input object that the document contains. */
  #makeFields({ type }, input, context, path) {
    if (input?.open == null) return [];
    const { inputFields, isOneOf } = context.schema.type(namedType(type)) ?? {};
    if (!inputFields) return [];
    // A variable for the only field of such an object must not be null.
    const definitions = isOneOf ? inputFields.map(asRequired) : inputFields;
    return [this.makeList(definitions, { ...context, container: input, isOneOf, path })];
  }

  #makeValue(definition, input, context, path) {
    const variable = input.value.match(/^\$(\w+)$/)?.[1];
    const toggle = makeElement("button", {
      type: "button", className: "to-variable", "aria-pressed": String(variable != null),
      "aria-label": `Use a variable for ${definition.name}`, title: "Use a variable",
      "data-path": `${path}$`,
      onclick: () => this.#onEdit(variable == null
        ? useVariable(context.text, context.field, input, definition)
        : useLiteral(context.text, input, this.#literalOf(variable, definition, context))),
    }, "$");
    if (variable != null) return [makeElement("span", { className: "argument" }, input.value), toggle];
    if (input.open != null) return [toggle];
    return [this.#makeField(definition, input, context, path), toggle];
  }

  #literalOf(variable, { type }, { schema }) {
    const value = this.#getVariables()?.[variable];
    return value == null ? exampleValue(type, schema) : formatLiteral(value, type, schema);
  }

  /** Makes the form field for a value: a menu, a field for a number or a text, or for a literal. */
  #makeField({ name, type }, input, { text, schema }, path) {
    const changeTo = (value) => this.#onEdit(setValue(text, input, value));
    const properties = { "aria-label": `Value of ${name}`, "data-path": `${path}=` };
    const innerType = type.kind === "NON_NULL" ? type.ofType : type;
    const definition = innerType.kind === "LIST" ? null : schema.type(innerType.name);
    const names = definition?.enumValues?.map((value) => value.name)
      ?? (definition?.name === "Boolean" ? ["true", "false"] : null);
    if (names) {
      const options = names.map((value) =>
        makeElement("option", { selected: value === input.value }, value));
      return makeElement("select",
        { ...properties, onchange: ({ target }) => changeTo(target.value) }, ...options);
    }
    const isNumber = ["Int", "Float"].includes(definition?.name);
    const isText = definition?.kind === "SCALAR" && !isNumber && /^"(?!"")/.test(input.value);
    return makeElement("input", {
      ...properties, type: isNumber ? "number" : "text", step: "any", spellcheck: false,
      value: isText ? textOf(input.value) : input.value,
      onchange: ({ target }) => {
        if (isText) changeTo(JSON.stringify(target.value));
        else if (target.value.trim()) changeTo(target.value);
      },
    });
  }
}

function asRequired(definition) {
  const { type } = definition;
  return type.kind === "NON_NULL" ? definition
    : { ...definition, type: { kind: "NON_NULL", ofType: type } };
}

/** Returns the text of a string literal. */
function textOf(literal) {
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}
