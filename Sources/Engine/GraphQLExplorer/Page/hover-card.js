// Shows what the schema says about the name under the pointer.
import { makeElement } from "./dom.js";
import { renderMarkdown } from "./markdown.js";

const delay = 300;

export class HoverCard {
  #editor;
  #findSymbol;
  #onOpen;
  #card = makeElement("div", {
    id: "hover-card", role: "region", "aria-label": "Documentation", hidden: true,
  });
  #timer = null;
  /** The symbol that the card shows, or null. */
  #symbol = null;

  /**
   * @param editor A CodeMirror editor.
   * @param {object} options
   * @param {Function} options.findSymbol Returns the `DocumentSymbol` at an offset, or null.
   * @param {Function} options.onOpen Receives the coordinate of a symbol to show in the schema.
   */
  constructor(editor, { findSymbol, onOpen }) {
    this.#editor = editor;
    this.#findSymbol = findSymbol;
    this.#onOpen = onOpen;
    const element = editor.getWrapperElement();
    document.querySelector("main").append(this.#card);
    element.addEventListener("mousemove", (event) => this.#showSoon(event));
    element.addEventListener("mouseleave", () => this.#hideSoon());
    element.addEventListener("mousedown", (event) => this.#openOnCommandClick(event), true);
    this.#card.onmouseenter = () => clearTimeout(this.#timer);
    this.#card.onmouseleave = () => this.#hideSoon();
    editor.on("scroll", () => this.#hide());
    editor.on("change", () => this.#hide());
    document.addEventListener("keydown", ({ key }) => { if (key === "Escape") this.#hide(); });
  }

  #showSoon({ clientX, clientY, buttons }) {
    clearTimeout(this.#timer);
    const symbol = buttons === 0 ? this.#symbolAtPoint(clientX, clientY) : null;
    if (symbol && symbol.start === this.#symbol?.start) return;
    this.#timer = setTimeout(() => (symbol ? this.#show(symbol) : this.#hide()), delay);
  }

  #hideSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#hide(), delay);
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#symbol = null;
    this.#card.hidden = true;
  }

  #show(symbol) {
    this.#symbol = symbol;
    const { coordinate, signature, description, deprecationReason } = symbol;
    const deprecation = deprecationReason ? `**Deprecated:** ${deprecationReason}` : "";
    this.#card.replaceChildren(
      makeElement("code", { className: "signature" }, signature),
      ...[description, deprecation].filter(Boolean).flatMap((text) => renderMarkdown(text)),
      makeElement("button", {
        type: "button", className: "link", onclick: () => this.#open(coordinate),
      }, "Show in the schema"));
    this.#card.hidden = false;
    this.#placeCard();
  }

  /** Places the card below the name, or above it if there is no room. */
  #placeCard() {
    const { left, top, bottom } = this.#editor.charCoords(
      this.#editor.posFromIndex(this.#symbol.start), "window");
    const { width, height } = this.#card.getBoundingClientRect();
    const isBelow = bottom + height + 8 < innerHeight;
    this.#card.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    this.#card.style.top = `${isBelow ? bottom + 2 : Math.max(8, top - height - 2)}px`;
  }

  #openOnCommandClick(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    const symbol = this.#symbolAtPoint(event.clientX, event.clientY);
    if (!symbol) return;
    // Without this, the editor would add a second cursor.
    event.preventDefault();
    event.stopPropagation();
    this.#open(symbol.coordinate);
  }

  #open(coordinate) {
    this.#hide();
    this.#onOpen(coordinate);
  }

  #symbolAtPoint(left, top) {
    const position = this.#editor.coordsChar({ left, top }, "window");
    if (position.outside) return null;
    return this.#findSymbol(this.#editor.indexFromPos(position));
  }
}
