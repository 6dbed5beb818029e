// Edits the request of a tab: its query, variables, headers, files, and access token.
import { DocumentChecker } from "./document-checker.js";
import { elementByID } from "./dom.js";
import { FileList } from "./file-list.js";
import { JSONObjectEditor } from "./json-object-editor.js";
import { OperationMenu } from "./operation-menu.js";
import { QueryEditor } from "./query-editor.js";
import { connectTabs } from "./tab-list.js";
import { TokenField } from "./token-field.js";
import { completeVariables } from "./variables-completion.js";

export class RequestPanel {
  #store;
  #queryEditor;
  #variablesEditor;
  #headersEditor;
  #fileList = new FileList();
  #tokenField;
  #explainCheckbox = elementByID("explain");
  #operationMenu = new OperationMenu();
  #checker = new DocumentChecker();
  #schema = null;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {object} options.shortcuts Functions by CodeMirror's names of keys.
   * @param {Function} options.onQueryChange Receives the text of the query after each change.
   * @param {Function} options.onTokenChange
   */
  constructor(store, { shortcuts, onQueryChange, onTokenChange }) {
    this.#store = store;
    this.#queryEditor = new QueryEditor({ shortcuts, onChange: onQueryChange });
    this.#variablesEditor = this.#makeVariablesEditor(shortcuts);
    this.#headersEditor = this.#makeHeadersEditor(shortcuts);
    this.#tokenField = new TokenField(store, { onChange: onTokenChange });
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

  set token(token) { this.#tokenField.token = token; }

  /** Whether the server can explain what it did for a request. */
  set canExplain(canExplain) { this.#explainCheckbox.parentElement.hidden = !canExplain; }

  showTab(tab) {
    this.#queryEditor.showText(tab.query);
    this.#variablesEditor.text = tab.variables;
    this.#fileList.showTab(tab);
  }

  replaceQuery(text) { this.#queryEditor.replaceText(text); }

  formatQuery(confirmCommentLoss) { return this.#queryEditor.format(confirmCommentLoss); }

  focusQuery() { this.#queryEditor.focus(); }

  /**
   * The request that the panel shows.
   *
   * @returns {import("./client.js").Request}
   */
  get request() {
    return {
      query: this.#queryEditor.text, variables: this.#variablesEditor.value,
      operationName: this.#operationMenu.operationName, headers: this.#headersEditor.value ?? {},
      token: this.#store.token, files: this.#fileList.files,
      isExplained: this.#explainCheckbox.checked,
    };
  }

  /** The operation to run as the last check reported it, or undefined. */
  get operation() { return this.#operationMenu.operation; }

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
    this.#operationMenu.operations = result.operations;
    this.#variablesEditor.serverError = result.variableErrors[0]?.message ?? null;
    return result.errors;
  }

  // Parts

  #makeVariablesEditor(shortcuts) {
    const complete = (text, offset) => this.#schema
      && completeVariables(text, offset, this.operation?.variables ?? [], this.#schema);
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
    connectTabs([...document.querySelectorAll("#request-parts [role=tab]")], () => {
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
    const variables = this.operation?.variables ?? [];
    const upload = variables.find(({ type }) => /\bUpload\b/.test(type));
    this.#fileList.addRow(`variables.${upload?.name ?? "file"}`);
  }
}
