// Edits the request of a tab: its query, variables, headers, and files.
import { DocumentChecker } from "./document-checker.js";
import { documentOperations } from "./document-tree.js";
import { elementByID } from "./dom.js";
import { FileList } from "./file-list.js";
import { JSONObjectEditor } from "./json-object-editor.js";
import { OperationMenu } from "./operation-menu.js";
import { QueryEditor } from "./query-editor.js";
import { connectTabs } from "./tab-list.js";
import { completeVariables } from "./variables-completion.js";

export class RequestPanel {
  #store;
  #queryEditor;
  #variablesEditor;
  #headersEditor;
  #fileList = new FileList();
  #explainCheckbox = elementByID("explain");
  #operationMenu = new OperationMenu();
  #checker = new DocumentChecker();
  #schema = null;
  /** The operations of the document as the last check reported them. */
  #checkedOperations = [];

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {object} options.shortcuts Functions by CodeMirror's names of keys.
   * @param {Function} options.onQueryChange Receives the text of the query after each change.
   * @param {Function} options.onOpen Receives the coordinate of a name to show in the schema.
   */
  constructor(store, { shortcuts, onQueryChange, onOpen }) {
    this.#store = store;
    this.#queryEditor = new QueryEditor({ shortcuts, onChange: onQueryChange, onOpen });
    this.#variablesEditor = this.#makeVariablesEditor(shortcuts);
    this.#headersEditor = this.#makeHeadersEditor(shortcuts);
    this.#connectPartTabs();
    this.#connectExplainCheckbox();
    elementByID("add-file").onclick = () => this.#addFile();
  }

  // Contents

  /** The schema for completion. */
  set schema(schema) {
    this.#schema = schema;
    this.#queryEditor.schema = schema;
  }

  /** Whether the server can explain what it did for a request. */
  set canExplain(canExplain) { this.#explainCheckbox.parentElement.hidden = !canExplain; }

  showTab(tab) {
    this.#queryEditor.showText(tab.query);
    this.#variablesEditor.text = tab.variables;
    this.#fileList.showTab(tab);
  }

  replaceQuery(text) { this.#queryEditor.replaceText(text); }

  /** Sets variables. Those whose value is undefined are removed. */
  changeVariables(changes) {
    const text = JSON.stringify({ ...this.#variablesEditor.value, ...changes }, null, 2);
    this.#variablesEditor.text = text === "{}" ? "" : text;
    this.#store.updateActiveTab({ variables: this.#variablesEditor.text });
  }

  /** The values of the variables, or undefined if their text is blank or invalid. */
  get variables() { return this.#variablesEditor.value; }

  /** The coordinate of the name at the cursor, such as `Book.title`, or null. */
  get coordinateAtCursor() { return this.#queryEditor.coordinateAtCursor; }

  /** Draws the editors again after they were hidden. */
  refresh() {
    for (const editor of [this.#queryEditor, this.#variablesEditor, this.#headersEditor]) editor.refresh();
  }

  formatQuery(confirmCommentLoss) { return this.#queryEditor.format(confirmCommentLoss); }

  focusQuery() { this.#queryEditor.focus(); }

  /**
   * The request that the panel shows, with the kind of its operation, but without a token.
   *
   * @returns {import("./client.js").Request & {kind?: string}}
   */
  get request() {
    const query = this.#queryEditor.text;
    const operations = documentOperations(query);
    const operation = this.#operationMenu.selectFrom(operations);
    return {
      query, variables: this.#variablesEditor.value, kind: operation?.kind,
      operationName: operations.length > 1 ? operation.name ?? undefined : undefined,
      headers: this.#headersEditor.value ?? {}, files: this.#fileList.files,
      isExplained: this.#explainCheckbox.checked,
    };
  }

  /** Why the request cannot be sent, or null. */
  get error() {
    const { syntaxError: variablesError } = this.#variablesEditor;
    if (variablesError) return `The variables are invalid: ${variablesError}`;
    const { syntaxError: headersError } = this.#headersEditor;
    return headersError ? `The headers are invalid: ${headersError}` : null;
  }

  /** Checks the query now and after each change. Call this once, after a tab is shown. */
  startChecking() { this.#queryEditor.startChecking(() => this.check()); }

  /** Checks the query and the variables, and returns the errors of the query. */
  async check() {
    const result = await this.#checker.check(this.#queryEditor.text, this.#variablesEditor.value);
    if (!result) return [];
    this.#checkedOperations = result.operations;
    this.#operationMenu.operations = result.operations;
    this.#variablesEditor.serverError = result.variableErrors[0]?.message ?? null;
    return result.errors;
  }

  /** The variables of the operation to run: `{ name, type }`. */
  get #declaredVariables() {
    return this.#operationMenu.selectFrom(this.#checkedOperations)?.variables ?? [];
  }

  // Parts

  #makeVariablesEditor(shortcuts) {
    const complete = (text, offset) => this.#schema
      && completeVariables(text, offset, this.#declaredVariables, this.#schema);
    const onChange = (text) => {
      this.#store.updateActiveTab({ variables: text });
      this.#queryEditor.checkAgain();
    };
    return new JSONObjectEditor(
      elementByID("variables-editor"), elementByID("variables-error"),
      { label: "Variables, as JSON", placeholder: "{ }", shortcuts, complete, onChange });
  }

  #makeHeadersEditor(shortcuts) {
    const editor = new JSONObjectEditor(
      elementByID("headers-editor"), elementByID("headers-error"), {
        label: "Headers, as JSON", placeholder: '{ "accept-language": "de" }', shortcuts,
        onChange: (text) => { this.#store.headers = text; },
      });
    editor.text = this.#store.headers;
    return editor;
  }

  #connectPartTabs() {
    connectTabs([...document.querySelectorAll("#request-part-tabs [role=tab]")], () => {
      this.#variablesEditor.refresh();
      this.#headersEditor.refresh();
    });
  }

  #connectExplainCheckbox() {
    this.#explainCheckbox.checked = this.#store.preference("explain", true);
    this.#explainCheckbox.onchange = () =>
      this.#store.setPreference("explain", this.#explainCheckbox.checked);
  }

  /** Adds a file for the operation's variable of the type `Upload`. */
  async #addFile() {
    await this.check();
    const upload = this.#declaredVariables.find(({ type }) => /\bUpload\b/.test(type));
    this.#fileList.addRow(`variables.${upload?.name ?? "file"}`);
  }
}
