// Creates the panels of the explorer page and connects them.
import { BuilderPanel } from "./builder-panel.js";
import { fetchSettings } from "./client.js";
import { elementByID } from "./dom.js";
import { queryFromLink } from "./export.js";
import { HistoryPanel } from "./history-panel.js";
import { Layout } from "./layout.js";
import { RequestPanel } from "./request-panel.js";
import { ResponsePanel } from "./response-panel.js";
import { Runner } from "./runner.js";
import { fetchSchema, IntrospectionError } from "./schema.js";
import { SchemaPanel } from "./schema-panel.js";
import { Session } from "./session.js";
import { connectShortcuts } from "./shortcuts.js";
import { SignInDialog } from "./sign-in-dialog.js";
import { Store } from "./store.js";
import { TabBar } from "./tab-bar.js";
import { TokenField } from "./token-field.js";
import { Toolbar } from "./toolbar.js";

class Explorer {
  #store = new Store();
  #session = new Session(this.#store, { onChange: () => this.#showSession() });
  #tokenField = new TokenField(this.#session, { onChange: () => this.#useTypedToken() });
  #signInDialog = new SignInDialog(this.#store, this.#session);
  #schemaPanel = new SchemaPanel();
  #responsePanel = new ResponsePanel();
  #builderPanel = new BuilderPanel({
    onEdit: (edit) => this.#showBuiltQuery(edit), getVariables: () => this.#requestPanel.variables,
  });
  #requestPanel = new RequestPanel(this.#store, {
    shortcuts: this.#editorShortcuts(),
    onQueryChange: (text) => this.#updateQuery(text),
    onOpen: (coordinate) => this.#openInSchema(coordinate),
  });
  #runner = new Runner({
    store: this.#store, session: this.#session, requestPanel: this.#requestPanel,
    onStart: () => this.#showStart(), onChange: (tab) => this.#showRun(tab),
  });
  #tabBar = new TabBar(this.#store, {
    isRunning: (tab) => Boolean(this.#runner.runOf(tab)?.isActive),
    onSelect: (index) => this.#selectTab(index), onClose: (index) => this.#closeTab(index),
  });
  #layout = new Layout(this.#store, { onShow: () => this.#refreshPanels() });
  #historyPanel = new HistoryPanel(this.#store, {
    onOpen: (query) => this.#openTab(query), onSave: () => this.#layout.show("history-panel"),
  });
  #toolbar = new Toolbar({
    store: this.#store, session: this.#session, requestPanel: this.#requestPanel,
    responsePanel: this.#responsePanel,
  });

  async start() {
    elementByID("new-tab").onclick = () => this.#openTab();
    elementByID("prettify").onclick = () => this.#prettify();
    this.#connectShortcuts();
    this.#openLink();
    this.#showActiveTab();
    this.#requestPanel.startChecking();
    await Promise.all([this.#loadSchema(), this.#applySettings()]);
  }

  // Tabs

  #showActiveTab() {
    const { activeTab } = this.#store;
    this.#tabBar.update();
    this.#requestPanel.showTab(activeTab);
    this.#builderPanel.query = activeTab.query;
    this.#showRun(activeTab);
  }

  /** Shows the run of a tab if the tab is active, and marks the tabs that are running. */
  #showRun(tab) {
    this.#tabBar.updateRuns();
    if (tab !== this.#store.activeTab) return;
    this.#runner.updateButton();
    this.#responsePanel.show(this.#runner.runOf(tab));
  }

  #showStart() {
    this.#historyPanel.update();
    this.#layout.showResponse();
  }

  #selectTab(index) {
    this.#store.selectTab(index);
    this.#showActiveTab();
  }

  #closeTab(index) {
    this.#runner.stop(this.#store.tabs[index]);
    this.#store.closeTab(index);
    this.#showActiveTab();
  }

  #openTab(query) {
    this.#store.openTab(query);
    this.#showActiveTab();
    this.#layout.showRequest();
    this.#requestPanel.focusQuery();
  }

  /** Opens the query of a link in a new tab, and removes it from the address of the page. */
  #openLink() {
    const query = queryFromLink();
    if (!query) return;
    this.#store.openTab(query);
    history.replaceState(null, "", location.pathname);
  }

  // The query

  #updateQuery(text) {
    this.#store.updateActiveTab({ query: text });
    this.#tabBar.updateTitle();
    this.#builderPanel.query = text;
  }

  #showBuiltQuery({ query, variables = {} }) {
    this.#requestPanel.changeVariables(variables);
    this.#requestPanel.replaceQuery(query);
    this.#requestPanel.formatQuery(() => false);
  }

  #prettify() {
    this.#requestPanel.formatQuery(() =>
      confirm("Prettify removes the comments after the start of the document. Continue?"));
  }

  #openInSchema(coordinate) {
    this.#layout.show("schema-panel");
    this.#schemaPanel.open(coordinate);
  }

  #refreshPanels() {
    this.#requestPanel.refresh();
    this.#responsePanel.refresh();
    this.#builderPanel.update();
  }

  // The server

  #showSession() {
    this.#tokenField.update(this.#session);
    this.#signInDialog.update();
  }

  #useTypedToken() {
    this.#signInDialog.update();
    this.#loadSchema();
  }

  async #loadSchema() {
    this.#schemaPanel.showMessage("Loading the schema…");
    try {
      const schema = await fetchSchema(this.#session.token);
      this.#schemaPanel.schema = schema;
      this.#builderPanel.schema = schema;
      this.#requestPanel.schema = schema;
    } catch (error) {
      this.#showSchemaError(error);
    }
  }

  /** Without a schema, queries still run. Documentation, building, and completion need it. */
  #showSchemaError(error) {
    const message = error instanceof IntrospectionError
      ? error.message : "The server cannot be reached.";
    this.#schemaPanel.showMessage(message);
    this.#builderPanel.showMessage(message);
  }

  async #applySettings() {
    const { isDevelopment, hasDevelopmentSignIn } = await fetchSettings().catch(() => ({}));
    this.#requestPanel.canExplain = isDevelopment;
    this.#signInDialog.isAvailable = hasDevelopmentSignIn;
    this.#signInDialog.update();
    if (!hasDevelopmentSignIn || !this.#session.isNew) return;
    await this.#session.signInAutomatically().catch((error) =>
      this.#responsePanel.showError(`Not signed in: ${error.message}`));
  }

  // Keyboard shortcuts

  #editorShortcuts() {
    const run = () => this.#runner.runOrStop();
    const prettify = () => this.#prettify();
    return {
      "Ctrl-Enter": run, "Cmd-Enter": run, "Shift-Ctrl-P": prettify, "Shift-Cmd-P": prettify,
    };
  }

  #connectShortcuts() {
    connectShortcuts({
      run: () => this.#runner.runOrStop(),
      showShortcuts: () => this.#toolbar.showShortcuts(),
      alt: {
        KeyN: () => this.#openTab(),
        KeyW: () => this.#closeTab(this.#store.activeIndex),
        KeyS: () => this.#historyPanel.showSaveDialog(),
        KeyQ: () => this.#requestPanel.focusQuery(),
        KeyR: () => this.#responsePanel.focus(),
        KeyB: () => this.#layout.toggle("builder-panel"),
        KeyH: () => this.#layout.toggle("history-panel"),
        KeyJ: () => {
          const coordinate = this.#requestPanel.coordinateAtCursor;
          if (coordinate) this.#openInSchema(coordinate);
        },
        KeyK: () => {
          this.#layout.show("schema-panel");
          this.#schemaPanel.focusSearch();
        },
      },
    });
  }
}

await new Explorer().start();
