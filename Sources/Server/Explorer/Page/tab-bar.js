// Shows the tabs of requests.
import { documentTitle } from "./document-tree.js";
import { elementByID, makeElement } from "./dom.js";
import { tabIndexAfterKey } from "./tab-list.js";

export class TabBar {
  #bar = elementByID("tabs");
  #store;
  #onSelect;
  #onClose;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onSelect Receives the index of the tab to select.
   * @param {Function} options.onClose Receives the index of the tab to close.
   */
  constructor(store, { onSelect, onClose }) {
    this.#store = store;
    this.#onSelect = onSelect;
    this.#onClose = onClose;
  }

  update() {
    const tabs = this.#store.tabs.map((tab, index) => this.#makeTab(tab, index));
    this.#bar.replaceChildren(...tabs);
  }

  /** Shows the title of the active tab after a change of its query. */
  updateTitle() { this.#activeButton.textContent = documentTitle(this.#store.activeTab.query); }

  #makeTab({ query }, index) {
    const isActive = index === this.#store.activeIndex;
    const title = documentTitle(query);
    const tabIndex = isActive ? 0 : -1;
    return makeElement("div", { className: isActive ? "tab active" : "tab", role: "presentation" },
      makeElement("button", {
        type: "button", role: "tab", "aria-selected": String(isActive), tabIndex,
        onclick: () => this.#onSelect(index), onkeydown: ({ key }) => this.#moveFocus(key),
      }, title),
      makeElement("button", {
        type: "button", className: "close", "aria-label": `Close ${title}`, tabIndex,
        onclick: () => this.#onClose(index),
      }, "×"));
  }

  #moveFocus(key) {
    const index = tabIndexAfterKey(key, this.#store.activeIndex, this.#store.tabs.length);
    if (index == null) return;
    this.#onSelect(index);
    this.#activeButton.focus();
  }

  get #activeButton() { return this.#bar.children[this.#store.activeIndex].firstChild; }
}
