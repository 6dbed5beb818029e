// Edits a JSON object and shows below it what is wrong with its text.
import { makeEditor } from "./editors.js";

export class JSONObjectEditor {
  #editor;
  #errorElement;
  #serverError = null;

  /**
   * @param {Element} element
   * @param {Element} errorElement
   * @param {object} options As for `makeEditor`.
   */
  constructor(element, errorElement, { onChange, ...options }) {
    this.#errorElement = errorElement;
    this.#editor = makeEditor(element, {
      mode: "json", ...options,
      onChange: (text) => {
        this.#showError();
        onChange(text);
      },
    });
  }

  get text() { return this.#editor.getValue(); }
  set text(text) {
    this.#editor.setValue(text);
    this.#showError();
  }

  /** The object, or undefined if the text is blank or not a JSON object. */
  get value() { return parseJSONObject(this.#editor.getValue()).value; }

  /** The reason why the text is not a JSON object, or undefined. */
  get syntaxError() { return parseJSONObject(this.#editor.getValue()).error; }

  /** The server's error for the object. It is shown if there is no error of the syntax. */
  set serverError(message) {
    this.#serverError = message;
    this.#showError();
  }

  /** Draws the editor again after it was hidden. */
  refresh() { this.#editor.refresh(); }

  #showError() { this.#errorElement.textContent = this.syntaxError ?? this.#serverError ?? ""; }
}

/**
 * Parses text as a JSON object. Returns it as `value`, or the reason why it is not one as `error`.
 *
 * Both are undefined for blank text.
 */
function parseJSONObject(text) {
  if (!text.trim()) return {};
  try {
    const value = JSON.parse(text);
    const isObject = value && typeof value === "object" && !Array.isArray(value);
    return isObject ? { value } : { error: "must be a JSON object: { … }" };
  } catch (error) {
    return { error: error.message };
  }
}
