// Edits the query: marks errors, completes names, and formats the document.
import { elementByID } from "./dom.js";
import { enableLinting, makeEditor, position } from "./editors.js";
import { formatDocument } from "./format-document.js";
import { HoverCard } from "./hover-card.js";
import { completeQuery } from "./query-completion.js";
import { symbolAt } from "./document-symbols.js";

export class QueryEditor {
  #editor;
  #onChange;

  /** The schema for completion, or null before it is loaded. */
  schema = null;

  /**
   * @param {object} options
   * @param {object} options.shortcuts Functions by CodeMirror's names of keys.
   * @param {Function} options.onChange Receives the text after each change.
   * @param {Function} options.onOpen Receives the coordinate of a name to show in the schema.
   */
  constructor({ shortcuts, onChange, onOpen }) {
    this.#onChange = onChange;
    this.#editor = makeEditor(elementByID("query-editor"), {
      mode: "graphql", label: "Query", shortcuts, onChange,
      complete: (text, offset) => this.schema && completeQuery(text, offset, this.schema),
    });
    new HoverCard(this.#editor, { findSymbol: (offset) => this.#symbolAt(offset), onOpen });
  }

  get text() { return this.#editor.getValue(); }

  /** Replaces the text and the undo history. */
  showText(text) {
    this.#editor.setValue(text);
    this.#editor.clearHistory();
  }

  /** Replaces the text. The user can undo the change. */
  replaceText(text) {
    const cursor = this.#editor.getCursor();
    this.#editor.operation(() => {
      this.#editor.setValue(text);
      this.#editor.setCursor(cursor);
    });
    this.#onChange(text);
  }

  /** Formats the document. `confirmCommentLoss` returns whether comments may be lost. */
  async format(confirmCommentLoss) {
    const text = this.text;
    const formatted = await formatDocument(text, confirmCommentLoss);
    const wasEdited = this.text !== text;
    if (formatted != null && formatted !== text && !wasEdited) this.replaceText(formatted);
  }

  /** Marks errors now and after each change. `check` returns a promise of the errors. */
  startChecking(check) {
    enableLinting(this.#editor, async () =>
      (await check()).flatMap((error) => this.#makeAnnotations(error)));
  }

  /** The coordinate of the name at the cursor, such as `Book.title`, or null. */
  get coordinateAtCursor() {
    return this.#symbolAt(this.#editor.indexFromPos(this.#editor.getCursor()))?.coordinate ?? null;
  }

  /** Draws the editor again after it was hidden. */
  refresh() { this.#editor.refresh(); }

  /** Checks the document again, although its text did not change. */
  checkAgain() { this.#editor.performLint(); }

  focus() { this.#editor.focus(); }

  #symbolAt(offset) { return this.schema && symbolAt(this.text, offset, this.schema); }

  /** Marks the token at each location of an error. An error without a location marks the start. */
  #makeAnnotations({ message, locations }) {
    const marked = locations.length > 0 ? locations : [{ line: 1, column: 1 }];
    return marked.map(({ line, column }) => {
      const rest = this.#editor.getLine(line - 1)?.slice(column - 1);
      const length = rest?.match(/^[$@]?\w+|^\.\.\.|^./)?.[0].length ?? 1;
      const [from, to] = [position(line - 1, column - 1), position(line - 1, column - 1 + length)];
      return { message, severity: "error", from, to };
    });
  }
}
