// Creates the suggestions of completion.
import { typeReferenceText } from "./schema.js";

/**
 * A text that completion offers.
 *
 * @typedef {object} Suggestion
 * @property {string} label The text in the list.
 * @property {string} insertText The text that replaces the prefix before the cursor.
 * @property {string} detail A type, shown after the label.
 * @property {?string} description
 * @property {boolean} isDeprecated
 */

/**
 * The suggestions for a position, which replace the text from the offset `from` to the cursor.
 *
 * @typedef {{from: number, suggestions: Suggestion[]}} Completion
 */

/**
 * Returns a suggestion. Its description is that of `definition`, a type, field, or other part of
 * the schema.
 *
 * @returns {Suggestion}
 */
export function makeSuggestion(label, { detail = "", insertText = label, definition = {} } = {}) {
  const { description = null, isDeprecated = false } = definition;
  return { label, insertText, detail, description, isDeprecated };
}

/** Suggests fields, arguments, or enum values of the schema, followed by `suffix`. */
export function suggestMembers(members, suffix = "") {
  return members.map((member) => makeSuggestion(member.name, {
    detail: member.type ? typeReferenceText(member.type) : "",
    insertText: member.name + suffix,
    definition: member,
  }));
}

export const suggestTypes = (types) =>
  types.map((type) => makeSuggestion(type.name, { detail: kindText(type), definition: type }));

const kindText = (type) => type.kind.toLowerCase().replace("_", " ");
