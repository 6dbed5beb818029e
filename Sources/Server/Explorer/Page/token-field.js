// Edits the access token, which is hidden unless the user shows it.
import { elementByID } from "./dom.js";

export class TokenField {
  #field = elementByID("token");
  #store;
  #onChange;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onChange Is called when the token is changed.
   */
  constructor(store, { onChange }) {
    this.#store = store;
    this.#onChange = onChange;
    this.#field.value = store.token;
    this.#field.oninput = () => { store.token = this.#field.value.trim(); };
    this.#field.onchange = () => onChange();
    elementByID("show-token").onclick = ({ target }) => this.#toggleVisibility(target);
  }

  set token(token) {
    this.#store.token = token;
    this.#field.value = token;
    this.#onChange();
  }

  #toggleVisibility(button) {
    const isHidden = this.#field.type === "password";
    this.#field.type = isHidden ? "text" : "password";
    button.setAttribute("aria-pressed", String(isHidden));
  }
}
