// Checks documents with the server's parser and validator.
import { checkDocument } from "./client.js";

export class DocumentChecker {
  #controller = null;

  /** Checks a document. Returns null if a newer check replaced this one or the server failed. */
  async check(query, variables) {
    this.#controller?.abort();
    this.#controller = new AbortController();
    return checkDocument(query, variables, this.#controller.signal).catch(() => null);
  }
}
