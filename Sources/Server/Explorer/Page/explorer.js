// Creates the panels of the explorer page and connects them.
import { BuilderPanel } from "./builder-panel.js";
import { fetchSettings } from "./client.js";
import { elementByID } from "./dom.js";
import { queryFromLink } from "./export.js";
import { HistoryPanel } from "./history-panel.js";
import { RequestPanel } from "./request-panel.js";
import { ResponsePanel } from "./response-panel.js";
import { Runner } from "./runner.js";
import { fetchSchema, IntrospectionError } from "./schema.js";
import { SchemaPanel } from "./schema-panel.js";
import { connectShortcuts } from "./shortcuts.js";
import { SidePanels } from "./side-panels.js";
import { SignInDialog } from "./sign-in-dialog.js";
import { Store } from "./store.js";
import { TabBar } from "./tab-bar.js";
import { Toolbar } from "./toolbar.js";

class Explorer {
  #store = new Store();
  #schemaPanel = new SchemaPanel();
  #responsePanel = new ResponsePanel();
  #builderPanel = new BuilderPanel({ onEdit: (text) => this.#showBuiltQuery(text) });
  #sidePanels = new SidePanels(this.#store, {
    onShow: (id) => { if (id === "builder-panel") this.#builderPanel.update(); },
  });
  #requestPanel = new RequestPanel(this.#store, {
    shortcuts: this.#editorShortcuts(),
    onQueryChange: (text) => this.#updateQuery(text),
    onTokenChange: () => this.#loadSchema(),
  });
  #tabBar = new TabBar(this.#store, {
    onSelect: (index) => this.#selectTab(index), onClose: (index) => this.#closeTab(index),
  });
  #historyPanel = new HistoryPanel(this.#store, {
    onOpen: (query) => this.#openTab(query), onSave: () => this.#sidePanels.show("history-panel"),
  });
  #toolbar = new Toolbar({
    store: this.#store, requestPanel: this.#requestPanel, responsePanel: this.#responsePanel,
  });
  #signInDialog = new SignInDialog(this.#store, {
    onSignIn: (token) => {
      this.#requestPanel.token = token;
      this.#responsePanel.showSuccess("Signed in");
    },
  });
  #runner = new Runner({
    store: this.#store, requestPanel: this.#requestPanel, responsePanel: this.#responsePanel,
    onStart: () => this.#historyPanel.update(),
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
    if (activeTab.response) this.#responsePanel.showResponse(activeTab.response);
    else this.#responsePanel.clear();
  }

  #selectTab(index) {
    this.#store.selectTab(index);
    this.#showActiveTab();
  }

  #closeTab(index) {
    this.#store.closeTab(index);
    this.#showActiveTab();
  }

  #openTab(query) {
    this.#store.openTab(query);
    this.#showActiveTab();
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

  #showBuiltQuery(text) {
    this.#requestPanel.replaceQuery(text);
    this.#requestPanel.formatQuery(() => false);
  }

  #prettify() {
    this.#requestPanel.formatQuery(() =>
      confirm("Prettify removes the comments after the start of the document. Continue?"));
  }

  // The server

  async #loadSchema() {
    this.#schemaPanel.showMessage("Loading the schema…");
    try {
      const schema = await fetchSchema(this.#store.token);
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
        KeyB: () => this.#sidePanels.toggle("builder-panel"),
        KeyH: () => this.#sidePanels.toggle("history-panel"),
        KeyK: () => {
          this.#sidePanels.show("schema-panel");
          this.#schemaPanel.focusSearch();
        },
      },
    });
  }
}

await new Explorer().start();
