// Creates a session for any subject, which only development servers allow.
import { fetchAudiences } from "./client.js";
import { elementByID, makeElement } from "./dom.js";

export class SignInDialog {
  #button = elementByID("sign-in");
  #dialog = elementByID("sign-in-dialog");
  #subjectField = elementByID("sign-in-subject");
  #audienceField = elementByID("sign-in-audience");
  #errorElement = elementByID("sign-in-error");
  #store;
  #session;

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./session.js").Session} session
   */
  constructor(store, session) {
    this.#store = store;
    this.#session = session;
    this.#button.onclick = () => this.#show();
    elementByID("sign-in-form").onsubmit = (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault();
      this.#signIn(this.#subjectField.value.trim(), this.#audienceField.value);
    };
  }

  /** Whether the button that opens the dialog is visible. */
  set isAvailable(isAvailable) { this.#button.hidden = !isAvailable; }

  /** Shows on the button who is signed in. */
  update() {
    const { subject } = this.#session;
    this.#button.textContent = subject ?? "Sign in";
    this.#button.title = subject ? "The signed-in user. Sign in as another one" : "";
  }

  async #show() {
    this.#subjectField.value = this.#store.preference("subject", "reader");
    this.#errorElement.textContent = "";
    this.#dialog.showModal();
    const audiences = await fetchAudiences().catch(() => []);
    this.#audienceField.replaceChildren(
      ...audiences.map((audience) => makeElement("option", {}, audience)));
    if (audiences.length === 0) {
      this.#errorElement.textContent = "Add a tenant first: bookplate-admin tenant add";
    }
  }

  async #signIn(subject, audience) {
    try {
      await this.#session.signIn(subject, audience);
      this.#store.setPreference("subject", subject);
      this.#dialog.close();
    } catch (error) {
      this.#errorElement.textContent = error.message;
    }
  }
}
