// Creates a session for any subject, which only development servers allow.
import { fetchIdentityToken, sendRequest } from "./client.js";
import { elementByID } from "./dom.js";

const signInMutation = `mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { accessToken }
}`;

export class SignInDialog {
  #button = elementByID("sign-in");
  #dialog = elementByID("sign-in-dialog");
  #subjectField = elementByID("sign-in-subject");
  #audienceField = elementByID("sign-in-audience");
  #errorElement = elementByID("sign-in-error");
  #store;
  #onSignIn;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onSignIn Receives the access token.
   */
  constructor(store, { onSignIn }) {
    this.#store = store;
    this.#onSignIn = onSignIn;
    this.#button.onclick = () => this.#show();
    elementByID("sign-in-form").onsubmit = (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault();
      this.#signIn(this.#subjectField.value.trim(), this.#audienceField.value.trim());
    };
  }

  /** Whether the button that opens the dialog is visible. */
  set isAvailable(isAvailable) { this.#button.hidden = !isAvailable; }

  #show() {
    this.#subjectField.value = this.#store.preference("subject", "reader");
    this.#audienceField.value = this.#store.preference("audience", "dev.bookplate.reader");
    this.#errorElement.textContent = "";
    this.#dialog.showModal();
  }

  async #signIn(subject, audience) {
    try {
      const token = await createSession(subject, audience);
      this.#store.setPreference("subject", subject);
      this.#store.setPreference("audience", audience);
      this.#dialog.close();
      this.#onSignIn(token);
    } catch (error) {
      this.#errorElement.textContent = `${error.message} Check that a tenant has this audience.`;
    }
  }
}

/** Signs in with an identity token of the server's own issuer. Returns the access token. */
async function createSession(subject, audience) {
  const identityToken = await fetchIdentityToken(subject, audience);
  const variables = { input: { apple: { identityToken, displayName: subject } } };
  const { json } = await sendRequest({ query: signInMutation, variables });
  const token = json?.data?.signIn?.accessToken;
  if (!token) {
    throw new Error(json?.errors?.[0]?.message ?? "The server did not return an access token.");
  }
  return token;
}
