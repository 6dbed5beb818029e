// Shows and hides the panels beside the request and its response.
import { elementByID } from "./dom.js";

const panelIDs = ["builder-panel", "history-panel", "schema-panel"];

export class SidePanels {
  #store;
  #onShow;

  /**
   * Shows the panels that were visible before. Narrow screens begin without any.
   *
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onShow Receives the ID of a panel after it is shown.
   */
  constructor(store, { onShow }) {
    this.#store = store;
    this.#onShow = onShow;
    const isNarrow = matchMedia("(max-width: 60rem)").matches;
    const visiblePanels = isNarrow ? {} : { "schema-panel": true, ...this.#storedPanels };
    for (const id of panelIDs) {
      this.#setVisible(id, Boolean(visiblePanels[id]));
      toggleButton(id).onclick = () => this.toggle(id);
    }
  }

  show(id) { this.#change(id, true); }

  toggle(id) { this.#change(id, elementByID(id).hidden); }

  #change(id, isVisible) {
    this.#setVisible(id, isVisible);
    this.#store.setPreference("panels", { ...this.#storedPanels, [id]: isVisible });
    if (isVisible) this.#onShow(id);
  }

  #setVisible(id, isVisible) {
    elementByID(id).hidden = !isVisible;
    toggleButton(id).setAttribute("aria-pressed", String(isVisible));
  }

  /** Whether each panel is visible, by its ID. Panels that were never changed are missing. */
  get #storedPanels() { return this.#store.preference("panels", {}); }
}

const toggleButton = (id) => document.querySelector(`button[aria-controls="${id}"]`);
