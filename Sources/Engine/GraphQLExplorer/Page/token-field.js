// Edits the access token, which is hidden unless the user shows it.
import { elementByID } from "./dom.js";

export class TokenField {
  #field = elementByID("token");

  /**
   * @param {import("./session.js").Session} session
   * @param {object} options
   * @param {Function} options.onChange Is called when the user has typed a token.
   */
  constructor(session, { onChange }) {
    this.update(session);
    this.#field.oninput = () => session.useToken(this.#field.value.trim());
    this.#field.onchange = () => onChange();
    elementByID("token-form").onsubmit = (event) => {
      event.preventDefault();
      this.#field.blur();
    };
    elementByID("show-token").onclick = ({ target }) => this.#toggleVisibility(target);
  }

  update({ token }) { this.#field.value = token; }

  #toggleVisibility(button) {
    const isHidden = this.#field.type === "password";
    this.#field.type = isHidden ? "text" : "password";
    button.setAttribute("aria-pressed", String(isHidden));
  }
}
