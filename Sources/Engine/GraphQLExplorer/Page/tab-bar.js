// Shows the tabs of requests.
import { documentTitle } from "./document-tree.js";
import { elementByID, makeElement } from "./dom.js";

export class TabBar {
  #bar = elementByID("tabs");
  #store;
  #isRunning;
  #onSelect;
  #onClose;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.isRunning Returns whether the request of a tab is running.
   * @param {Function} options.onSelect Receives the index of the tab to select.
   * @param {Function} options.onClose Receives the index of the tab to close.
   */
  constructor(store, { isRunning, onSelect, onClose }) {
    this.#store = store;
    this.#isRunning = isRunning;
    this.#onSelect = onSelect;
    this.#onClose = onClose;
  }

  update() {
    this.#bar.replaceChildren(...this.#store.tabs.map((tab, index) => this.#makeTab(tab, index)));
    this.#bar.children[this.#store.activeIndex].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Shows which requests are running. */
  updateRuns() {
    this.#store.tabs.forEach((tab, index) => {
      this.#bar.children[index].classList.toggle("running", this.#isRunning(tab));
    });
  }

  /** Shows the title of the active tab after a change of its query. */
  updateTitle() {
    const { activeIndex, activeTab } = this.#store;
    this.#bar.children[activeIndex].firstChild.textContent = documentTitle(activeTab.query);
  }

  #makeTab(tab, index) {
    const isActive = index === this.#store.activeIndex;
    const title = documentTitle(tab.query);
    const classes = ["tab", isActive && "active", this.#isRunning(tab) && "running"];
    return makeElement("li", { className: classes.filter(Boolean).join(" ") },
      makeElement("button", {
        type: "button", "aria-current": String(isActive), onclick: () => this.#onSelect(index),
      }, title),
      makeElement("button", {
        type: "button", className: "close", "aria-label": `Close ${title}`,
        onclick: () => this.#onClose(index),
      }, "×"));
  }
}
