// Lists the saved queries and the history, and saves queries under a name.
import { documentTitle } from "./document-tree.js";
import { elementByID, makeElement } from "./dom.js";

export class HistoryPanel {
  #searchField = elementByID("history-search");
  #saveDialog = elementByID("save-dialog");
  #nameField = elementByID("save-name");
  #store;
  #onOpen;
  #onSave;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onOpen Receives the query and the variables of the selected entry.
   * @param {Function} options.onSave Is called after a query is saved.
   */
  constructor(store, { onOpen, onSave }) {
    this.#store = store;
    this.#onOpen = onOpen;
    this.#onSave = onSave;
    this.#searchField.oninput = () => this.update();
    this.#saveDialog.onclose = () => this.#saveFromDialog();
    elementByID("save").onclick = () => this.showSaveDialog();
    elementByID("clear-history").onclick = () => {
      store.clearHistory();
      this.update();
    };
    this.update();
  }

  /** Asks for a name for the query of the active tab. */
  showSaveDialog() {
    this.#nameField.value = documentTitle(this.#store.activeTab.query);
    this.#saveDialog.showModal();
  }

  /** Shows the entries that contain the text in the search field. */
  update() {
    const searchText = this.#searchField.value.trim().toLowerCase();
    const matches = ({ name = "", query }) => `${name} ${query}`.toLowerCase().includes(searchText);
    elementByID("saved-queries").replaceChildren(
      ...this.#store.savedQueries.filter(matches).map((entry) => this.#makeSavedItem(entry)));
    elementByID("history-entries").replaceChildren(
      ...this.#store.history.filter(matches).map((entry) => this.#makeHistoryItem(entry)));
  }

  #makeSavedItem(entry) {
    const remove = () => {
      this.#store.deleteSavedQuery(entry.name);
      this.update();
    };
    return makeElement("li", {},
      this.#makeOpenButton(entry, makeElement("span", {}, entry.name)),
      makeElement("button", {
        type: "button", className: "close", "aria-label": `Delete ${entry.name}`, onclick: remove,
      }, "×"));
  }

  #makeHistoryItem(entry) {
    return makeElement("li", {}, this.#makeOpenButton(entry,
      makeElement("span", {}, documentTitle(entry.query)),
      makeElement("small", {}, new Date(entry.time).toLocaleString())));
  }

  #makeOpenButton({ query, variables }, ...children) {
    return makeElement("button", {
      type: "button", title: query, onclick: () => this.#onOpen({ query, variables }),
    }, ...children);
  }

  #saveFromDialog() {
    const name = this.#nameField.value.trim();
    if (this.#saveDialog.returnValue !== "save" || !name) return;
    this.#store.saveQuery(name, this.#store.activeTab);
    this.update();
    this.#onSave();
  }
}
