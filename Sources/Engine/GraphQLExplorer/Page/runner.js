// Runs the requests of tabs. Each tab has a run of its own, which continues when another is shown.
import { sendRequest, subscribe } from "./client.js";
import { elementByID } from "./dom.js";
import { Run } from "./run.js";

export class Runner {
  #button = elementByID("run");
  #store;
  #session;
  #requestPanel;
  #onStart;
  #onChange;
  /** The latest run of each tab. */
  #runs = new WeakMap();

  /**
   * @param {object} options
   * @param {import("./store.js").Store} options.store
   * @param {import("./session.js").Session} options.session
   * @param {import("./request-panel.js").RequestPanel} options.requestPanel
   * @param {Function} options.onStart Is called after the request is added to the history.
   * @param {Function} options.onChange Receives the tab whose run has changed.
   */
  constructor({ store, session, requestPanel, onStart, onChange }) {
    this.#store = store;
    this.#session = session;
    this.#requestPanel = requestPanel;
    this.#onStart = onStart;
    this.#onChange = onChange;
    this.#button.onclick = () => this.runOrStop();
  }

  /** Returns the latest run of a tab, or undefined. */
  runOf(tab) { return this.#runs.get(tab); }

  /** Runs the request of the active tab, or stops it. */
  async runOrStop() {
    const tab = this.#store.activeTab;
    const run = this.#runs.get(tab);
    if (run?.isActive) run.stop();
    else await this.#run(tab);
  }

  /** Stops the run of a tab that is closed. */
  stop(tab) { this.#runs.get(tab)?.stop(); }

  /** Shows what the button does for the active tab. */
  updateButton() {
    this.#button.textContent = this.#runs.get(this.#store.activeTab)?.isActive ? "Stop" : "Run";
  }

  async #run(tab) {
    const run = new Run();
    this.#runs.set(tab, run);
    const { error, request } = this.#requestPanel;
    if (error) {
      run.showStatus(error, "error");
    } else {
      this.#store.addToHistory(tab);
      this.#onStart();
      this.#onChange(tab);
      await this.#send(tab, run, { ...request, signal: run.signal })
        .catch((failure) => showFailure(run, failure));
    }
    run.isActive = false;
    this.#onChange(tab);
  }

  async #send(tab, run, request) {
    if (request.kind === "subscription") {
      await this.#subscribe(tab, run, request);
      return;
    }
    run.response = await this.#session.authorize(
      (token) => sendRequest({ ...request, token }),
      ({ json }) => json?.errors?.some(isUnauthenticated));
  }

  /** Receives events until the server completes the subscription, with a new token if necessary. */
  async #subscribe(tab, run, request) {
    run.events = [];
    run.showStatus("Subscribing…");
    this.#onChange(tab);
    let outcome;
    do {
      outcome = await this.#session.authorize(
        (token) => this.#receive(tab, run, { ...request, token }), ({ error }) => Boolean(error));
    } while (outcome.error && outcome.hasLasted);
    if (outcome.error) throw outcome.error;
    run.showStatus("Subscription completed");
  }

  /** Receives events until the server completes the subscription, or the token expires. */
  async #receive(tab, run, request) {
    const start = performance.now();
    try {
      await subscribe(request, {
        onOpen: () => {
          if (run.events.length === 0) run.showStatus("Waiting for events…", "success");
          this.#onChange(tab);
        },
        onResult: (result) => {
          run.addEvent(result);
          this.#onChange(tab);
        },
      });
      return {};
    } catch (error) {
      if (error.code !== "UNAUTHENTICATED") throw error;
      return { error, hasLasted: performance.now() - start > 60_000 };
    }
  }
}

const isUnauthenticated = (error) => error.extensions?.code === "UNAUTHENTICATED";

function showFailure(run, error) {
  if (error.name === "AbortError") run.showStatus("Stopped");
  else if (error instanceof TypeError) run.showStatus("The server cannot be reached", "error");
  else run.showStatus(error.message, "error");
}
