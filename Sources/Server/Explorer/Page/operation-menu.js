// Selects the operation to run in a document with several operations.
import { elementByID, makeElement } from "./dom.js";

export class OperationMenu {
  #select = elementByID("operation");
  #operations = [];

  /** The operations of the document as the server reported them. */
  set operations(operations) {
    this.#operations = operations;
    const names = operations.map(({ name }) => name).filter(Boolean);
    const selectedName = this.#select.value;
    const options = names.map((name) => makeElement("option", { value: name }, name));
    this.#select.replaceChildren(...options);
    if (names.includes(selectedName)) this.#select.value = selectedName;
    this.#select.hidden = names.length < 2;
  }

  /** The only operation or the selected one, or undefined if there is none. */
  get operation() {
    if (this.#operations.length <= 1) return this.#operations[0];
    return this.#operations.find(({ name }) => name === this.#select.value);
  }

  /** The name that a request needs, or undefined if the document has only one operation. */
  get operationName() {
    return this.#operations.length > 1 ? this.operation?.name : undefined;
  }
}
