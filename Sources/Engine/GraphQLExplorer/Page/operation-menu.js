// Selects the operation to run in a document with several operations.
import { elementByID, makeElement } from "./dom.js";

export class OperationMenu {
  #select = elementByID("operation");

  /** Lists the operations of a document, if there are several. */
  set operations(operations) {
    const names = operations.map(({ name }) => name).filter(Boolean);
    const selectedName = this.#select.value;
    const options = names.map((name) => makeElement("option", { value: name }, name));
    this.#select.replaceChildren(...options);
    if (names.includes(selectedName)) this.#select.value = selectedName;
    this.#select.hidden = names.length < 2;
  }

  /** Returns the only operation or the selected one, or undefined if there is none. */
  selectFrom(operations) {
    if (operations.length <= 1) return operations[0];
    return operations.find(({ name }) => name === this.#select.value) ?? operations[0];
  }
}
