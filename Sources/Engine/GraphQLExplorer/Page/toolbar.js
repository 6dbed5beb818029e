// Connects the buttons of the toolbar that belong to no panel.
import { elementByID } from "./dom.js";
import { curlCommand, linkToQuery, swiftCode } from "./export.js";

export class Toolbar {
  #store;
  #session;
  #requestPanel;
  #responsePanel;
  #shortcutsDialog = elementByID("shortcuts-dialog");

  constructor({ store, session, requestPanel, responsePanel }) {
    this.#store = store;
    this.#session = session;
    this.#requestPanel = requestPanel;
    this.#responsePanel = responsePanel;
    this.#showTheme();
    elementByID("theme").onclick = () => this.#toggleTheme();
    elementByID("show-shortcuts").onclick = () => this.showShortcuts();
    elementByID("copy-as").onchange = ({ target: menu }) => {
      this.#copyAs(menu.value);
      menu.value = "";
    };
  }

  showShortcuts() { this.#shortcutsDialog.showModal(); }

  #copyAs(format) {
    const request = { ...this.#requestPanel.request, token: this.#session.token };
    if (format === "curl") this.#responsePanel.copy(curlCommand(request), "Command");
    if (format === "swift") this.#responsePanel.copy(swiftCode(request), "Swift code");
    if (format === "link") this.#responsePanel.copy(linkToQuery(this.#store.activeTab), "Link");
  }

  #toggleTheme() {
    this.#store.theme = this.#store.theme === "dark" ? "light" : "dark";
    this.#showTheme();
  }

  #showTheme() { document.documentElement.dataset.theme = this.#store.theme; }
}
