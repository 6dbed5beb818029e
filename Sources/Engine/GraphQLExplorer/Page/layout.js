// Arranges the panels: side by side on wide screens, and one at a time on narrow ones.
import { elementByID } from "./dom.js";
import { Splitter } from "./splitter.js";

const requestPanels = ["request-panel", "response-panel"];

/** The panels at each side, of which one is visible at a time. */
const sides = {
  left: ["builder-panel", "history-panel"],
  right: ["schema-panel"],
};
const sidePanels = Object.values(sides).flat();

export class Layout {
  #store;
  #onShow;
  #narrowScreen = matchMedia("(max-width: 60rem)");
  /** The only visible panel of a narrow screen. */
  #narrowPanel = "request-panel";

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onShow Is called after panels are shown or get another size.
   */
  constructor(store, { onShow }) {
    this.#store = store;
    this.#onShow = onShow;
    this.#narrowScreen.onchange = () => this.#update();
    for (const id of [...requestPanels, ...sidePanels]) {
      buttonOf(id).onclick = () => this.toggle(id);
    }
    this.#connectSplitters();
    this.#update();
  }

  /** Shows a panel. It replaces another one at the same side, or on a narrow screen any other. */
  show(id) {
    this.#narrowPanel = id;
    if (!requestPanels.includes(id)) this.#storePanel(id, true);
    this.#update();
  }

  toggle(id) {
    if (this.#narrowScreen.matches || elementByID(id).hidden) {
      this.show(id);
    } else {
      this.#storePanel(id, false);
      this.#update();
    }
  }

  /** On a narrow screen, shows the request in place of any other panel. */
  showRequest() {
    if (this.#narrowScreen.matches) this.show("request-panel");
  }

  /** On a narrow screen, shows the response in place of the request. */
  showResponse() {
    if (this.#narrowScreen.matches) this.show("response-panel");
  }

  #storePanel(id, isVisible) {
    const side = Object.keys(sides).find((name) => sides[name].includes(id));
    this.#store.setPreference("sides", { ...this.#storedSides, [side]: isVisible ? id : null });
  }

  /** The ID of the visible panel of each side, or null. */
  get #storedSides() { return this.#store.preference("sides", { right: "schema-panel" }); }

  #update() {
    const isNarrow = this.#narrowScreen.matches;
    const visible = isNarrow
      ? [this.#narrowPanel] : [...requestPanels, ...Object.values(this.#storedSides)];
    for (const id of [...requestPanels, ...sidePanels]) {
      elementByID(id).hidden = !visible.includes(id);
      buttonOf(id).setAttribute("aria-pressed", String(visible.includes(id)));
    }
    for (const splitter of document.querySelectorAll(".splitter[data-panels]")) {
      const panels = splitter.dataset.panels.split(" ");
      splitter.hidden = isNarrow || !panels.some((id) => visible.includes(id));
    }
    this.#onShow();
  }

  // Sizes

  #connectSplitters() {
    const sizes = this.#store.preference("sizes", {});
    const onResize = (name, size) => {
      const { [name]: _, ...others } = this.#store.preference("sizes", {});
      this.#store.setPreference("sizes", size == null ? others : { ...others, [name]: size });
      this.#onShow();
    };
    for (const element of document.querySelectorAll(".splitter")) {
      new Splitter(element, { size: sizes[element.dataset.size], onResize });
    }
  }
}

const buttonOf = (id) => document.querySelector(`#panel-buttons [aria-controls="${id}"]`);
