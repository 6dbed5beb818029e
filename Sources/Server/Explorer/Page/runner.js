// Runs the request of the active tab, or stops it.
import { sendRequest, subscribe } from "./client.js";
import { elementByID } from "./dom.js";

export class Runner {
  #button = elementByID("run");
  #store;
  #requestPanel;
  #responsePanel;
  #onStart;
  /** The controller that aborts the running request, or null if none is running. */
  #controller = null;

  /**
   * @param {object} options
   * @param {import("./store.js").Store} options.store
   * @param {import("./request-panel.js").RequestPanel} options.requestPanel
   * @param {import("./response-panel.js").ResponsePanel} options.responsePanel
   * @param {Function} options.onStart Is called after the request is added to the history.
   */
  constructor({ store, requestPanel, responsePanel, onStart }) {
    this.#store = store;
    this.#requestPanel = requestPanel;
    this.#responsePanel = responsePanel;
    this.#onStart = onStart;
    this.#button.onclick = () => this.runOrStop();
  }

  async runOrStop() {
    if (this.#controller) {
      this.#controller.abort();
      return;
    }
    const { error } = this.#requestPanel;
    if (error) this.#responsePanel.showError(error);
    else await this.#run(this.#store.activeTab);
  }

  async #run(tab) {
    this.#controller = new AbortController();
    this.#button.textContent = "Stop";
    this.#responsePanel.clear();
    this.#responsePanel.showStatus("Running…");
    this.#store.addToHistory(tab);
    this.#onStart();
    try {
      await this.#send(tab, this.#controller.signal);
    } catch (error) {
      this.#responsePanel.showError(errorText(error));
    }
    this.#controller = null;
    this.#button.textContent = "Run";
  }

  async #send(tab, signal) {
    await this.#requestPanel.check();
    const request = { ...this.#requestPanel.request, signal };
    if (this.#requestPanel.operation?.kind === "subscription") {
      await this.#subscribe(request);
      return;
    }
    tab.response = await sendRequest(request);
    if (tab === this.#store.activeTab) this.#responsePanel.showResponse(tab.response);
  }

  async #subscribe(request) {
    this.#responsePanel.showEventList();
    this.#responsePanel.showSuccess("Waiting for events…");
    await subscribe(request, (event) => {
      this.#responsePanel.addEvent(event);
      this.#responsePanel.showSuccess("Receiving events…");
    });
    this.#responsePanel.showStatus("Subscription completed");
  }
}

function errorText(error) {
  if (error.name === "AbortError") return "Stopped";
  return error instanceof TypeError ? "The server cannot be reached" : error.message;
}
