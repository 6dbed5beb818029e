// Selects the files that a request uploads, for each tab on its own.
import { elementByID, makeElement } from "./dom.js";

export class FileList {
  #list = elementByID("file-list");
  /** The rows of each tab. They are not stored, because a page cannot keep the user's files. */
  #rowsOfTabs = new WeakMap();
  #tab = null;

  showTab(tab) {
    this.#tab = tab;
    this.#list.replaceChildren(...this.#rows);
  }

  /** The selected files with the paths of their variables: `{ path, file }`. */
  get files() {
    return [...this.#rows]
      .map((row) => ({
        path: row.querySelector("input[type=text]").value.trim(),
        file: row.querySelector("input[type=file]").files[0],
      }))
      .filter(({ path, file }) => path && file);
  }

  /** Adds a row for a file, with a path that the user can change. */
  addRow(path) {
    const rows = this.#rows;
    const remove = () => {
      rows.delete(row);
      row.remove();
    };
    const pathField = makeElement("input", {
      type: "text", value: path, "aria-label": "Path of the variable", spellcheck: false,
    });
    const fileField = makeElement("input", { type: "file", "aria-label": "File" });
    const removeButton = makeElement("button", {
      type: "button", "aria-label": "Remove the file", onclick: remove,
    }, "×");
    const row = makeElement("li", {}, pathField, fileField, removeButton);
    rows.add(row);
    this.#list.append(row);
    pathField.focus();
  }

  get #rows() {
    if (!this.#rowsOfTabs.has(this.#tab)) this.#rowsOfTabs.set(this.#tab, new Set());
    return this.#rowsOfTabs.get(this.#tab);
  }
}
