// Keeps the access token of the user, and refreshes it before it expires.
import { fetchAudiences, fetchIdentityToken, sendRequest } from "./client.js";

const sessionFields = "accessToken accessTokenExpiresAt refreshToken";
const signInMutation = `mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { ${sessionFields} }
}`;
const refreshMutation = `mutation Refresh($token: String!) {
  refreshSession(refreshToken: $token) { ${sessionFields} }
}`;

/** The token is refreshed when it is valid for less than this time. */
const minimumValidity = 60_000;

/**
 * The tokens of a user. A token that the user typed has no refresh token.
 *
 * @typedef {object} Tokens
 * @property {string} accessToken
 * @property {string} [accessTokenExpiresAt]
 * @property {string} [refreshToken]
 * @property {string} [subject] The subject of the development session.
 */

export class Session {
  #store;
  #onChange;
  /** The refresh in progress, or null. Concurrent requests wait for the same one. */
  #refresh = null;

  /**
   * @param {import("./store.js").Store} store
   * @param {object} options
   * @param {Function} options.onChange Is called after the server has issued tokens.
   */
  constructor(store, { onChange }) {
    this.#store = store;
    this.#onChange = onChange;
  }

  get token() { return this.#store.tokens?.accessToken ?? ""; }

  /** The subject of the development session, or null for any other token. */
  get subject() { return this.#store.tokens?.subject ?? null; }

  /** Whether this window has never had a token. An empty token was removed by the user. */
  get isNew() { return this.#store.tokens == null; }

  /** Uses a token that the user types. Does not call `onChange`. */
  useToken(accessToken) { this.#store.tokens = { accessToken }; }

  /** Creates a session for a subject, which only a development server allows. */
  async signIn(subject, audience) {
    const identityToken = await fetchIdentityToken(subject, audience);
    const variables = { input: { apple: { identityToken, displayName: subject } } };
    const tokens = await requestTokens({ query: signInMutation, variables }, "signIn");
    this.#store.tokens = { ...tokens, subject };
    this.#onChange();
  }

  /** Creates a session for a new user of this window, in the first tenant. */
  async signInAutomatically() {
    const [audience] = await fetchAudiences();
    if (audience) await this.signIn(this.#store.preference("subject", "reader"), audience);
  }

  /**
   * Calls `send` with the access token. Refreshes the token first if it is about to expire, or
   * afterward if `isRefused(result)`, and then calls `send` once more.
   */
  async authorize(send, isRefused) {
    if (this.#expiresSoon) await this.refresh().catch(() => {});
    const result = await send(this.token);
    if (!isRefused(result) || !this.#store.tokens?.refreshToken) return result;
    try {
      await this.refresh();
    } catch {
      // The session has ended. The result says so.
      return result;
    }
    return send(this.token);
  }

  /** Exchanges the refresh token for new tokens. */
  refresh() {
    this.#refresh ??= this.#exchange().finally(() => { this.#refresh = null; });
    return this.#refresh;
  }

  async #exchange() {
    const { refreshToken, subject } = this.#store.tokens;
    const tokens = await requestTokens(
      { query: refreshMutation, variables: { token: refreshToken } }, "refreshSession");
    // The user may have signed in or typed a token in the meantime.
    if (this.#store.tokens?.refreshToken !== refreshToken) return;
    this.#store.tokens = { ...tokens, subject };
    this.#onChange();
  }

  get #expiresSoon() {
    const { refreshToken, accessTokenExpiresAt } = this.#store.tokens ?? {};
    return Boolean(refreshToken)
      && Date.parse(accessTokenExpiresAt) < Date.now() + minimumValidity;
  }
}

async function requestTokens(request, field) {
  const { json } = await sendRequest(request);
  const tokens = json?.data?.[field];
  if (!tokens) {
    throw new Error(json?.errors?.[0]?.message ?? "The server did not return an access token.");
  }
  return tokens;
}
