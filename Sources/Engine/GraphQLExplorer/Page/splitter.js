// Changes the size of a panel with the pointer or the arrow keys.

const step = 24;
const minimumSize = 96;

/**
 * A separator between two panels.
 *
 * Its element names the custom property of the style sheet in `data-size`, and the panel whose size
 * the property defines: the visible element before the separator, or the one after it with
 * `data-resizes="next"`. A separator with `aria-orientation="horizontal"` changes heights.
 */
export class Splitter {
  #element;
  #name;
  #isVertical;
  #direction;
  #onResize;

  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {number} [options.size] The stored size in pixels.
   * @param {Function} options.onResize Receives the name and the size, or null for the default.
   */
  constructor(element, { size, onResize }) {
    this.#element = element;
    this.#name = element.dataset.size;
    this.#isVertical = element.getAttribute("aria-orientation") !== "horizontal";
    this.#direction = element.dataset.resizes === "next" ? -1 : 1;
    this.#onResize = onResize;
    if (Number.isFinite(size)) this.#setProperty(size);
    element.onpointerdown = (event) => this.#drag(event);
    element.onkeydown = (event) => this.#handleKey(event);
    element.ondblclick = () => this.#reset();
    element.onfocus = () => this.#updateValue();
    new ResizeObserver(() => this.#updateValue()).observe(element.parentElement);
  }

  #drag(event) {
    event.preventDefault();
    const start = this.#position(event);
    const size = this.#size;
    this.#element.setPointerCapture(event.pointerId);
    this.#element.onpointermove = (move) =>
      this.#resize(size + (this.#position(move) - start) * this.#direction);
    this.#element.onpointerup = () => { this.#element.onpointermove = null; };
    this.#element.onpointercancel = this.#element.onpointerup;
  }

  #handleKey(event) {
    const keys = this.#isVertical ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const index = keys.indexOf(event.key);
    if (index < 0) return;
    event.preventDefault();
    this.#resize(this.#size + (index === 0 ? -step : step) * this.#direction);
  }

  /** Sets a size within the limits. The style sheet reduces it if the window is too small. */
  #resize(size) {
    const limit = (this.#isVertical ? innerWidth : innerHeight) - 2 * minimumSize;
    const rounded = Math.round(Math.min(Math.max(size, minimumSize), limit));
    this.#setProperty(rounded);
    this.#updateValue();
    this.#onResize(this.#name, rounded);
  }

  #reset() {
    document.documentElement.style.removeProperty(`--${this.#name}`);
    this.#updateValue();
    this.#onResize(this.#name, null);
  }

  #setProperty(size) {
    document.documentElement.style.setProperty(`--${this.#name}`, `0 1 ${size}px`);
  }

  /** Tells assistive technology the share of the window that the panel has. */
  #updateValue() {
    const whole = this.#isVertical ? innerWidth : innerHeight;
    this.#element.setAttribute("aria-valuenow", String(Math.round(100 * this.#size / whole)));
  }

  get #panel() {
    if (this.#element.dataset.resizes === "next") return this.#element.nextElementSibling;
    let panel = this.#element.previousElementSibling;
    while (panel.hidden && panel.previousElementSibling) panel = panel.previousElementSibling;
    return panel;
  }

  get #size() {
    const { width, height } = this.#panel.getBoundingClientRect();
    return this.#isVertical ? width : height;
  }

  #position({ clientX, clientY }) { return this.#isVertical ? clientX : clientY; }
}
