// Stores tabs, history, saved queries, and preferences in the browser.
//
// The tokens and the headers may be secrets, so they are kept in sessionStorage, which ends
// with the window. Everything else is kept in localStorage.

const maxTabs = 20;
const maxHistoryEntries = 100;

const welcomeQuery = `# Ctrl-Enter or ⌘-Enter runs this query.
# Point at a name to read what it means.
query Welcome {
  me {
    displayName
    shelves {
      name
      bookCount
    }
  }
  feed(first: 3) {
    nodes {
      title
      authors {
        name
      }
      image {
        url
      }
    }
  }
}
`;

/**
 * A query with its variables, both as text.
 *
 * @typedef {object} Tab
 * @property {string} query
 * @property {string} variables JSON, or an empty string.
 */

export class Store {
  /** @type {Tab[]} */
  #tabs;
  #activeIndex;
  #history;
  #savedQueries;

  constructor() {
    this.#tabs = readQueries("tabs").slice(0, maxTabs);
    if (this.#tabs.length === 0) this.#tabs.push({ query: welcomeQuery, variables: "" });
    const storedIndex = Number(read("localStorage", "active", 0)) || 0;
    this.#activeIndex = Math.min(Math.max(storedIndex, 0), this.#tabs.length - 1);
    this.#history = readQueries("history");
    this.#savedQueries = readQueries("saved").filter((entry) => typeof entry.name === "string");
  }

  // Tabs

  get tabs() { return this.#tabs; }
  get activeIndex() { return this.#activeIndex; }
  get activeTab() { return this.#tabs[this.#activeIndex]; }

  /** Changes the query or the variables of the active tab. */
  updateActiveTab(changes) {
    Object.assign(this.activeTab, changes);
    this.#saveTabs();
  }

  selectTab(index) {
    this.#activeIndex = index;
    this.#saveTabs();
  }

  /** Adds a tab and selects it. The first tab is closed when there are too many. */
  openTab({ query, variables } = { query: "", variables: "" }) {
    if (this.#tabs.length === maxTabs) this.#tabs.shift();
    this.#tabs.push({ query, variables });
    this.selectTab(this.#tabs.length - 1);
  }

  /** Closes a tab. An empty tab replaces the last one. */
  closeTab(index) {
    this.#tabs.splice(index, 1);
    if (this.#tabs.length === 0) this.#tabs.push({ query: "", variables: "" });
    if (this.#activeIndex > index || this.#activeIndex === this.#tabs.length) {
      this.#activeIndex = Math.max(this.#activeIndex - 1, 0);
    }
    this.#saveTabs();
  }

  #saveTabs() {
    write("localStorage", "tabs", this.#tabs.map(({ query, variables }) => ({ query, variables })));
    write("localStorage", "active", this.#activeIndex);
  }

  // History and saved queries

  /** The requests that were run, newest first: `{ query, variables, time }`. */
  get history() { return this.#history; }

  /** The saved queries in the order of their names: `{ name, query, variables }`. */
  get savedQueries() { return this.#savedQueries; }

  /** Adds a request to the history. An equal older entry is removed. */
  addToHistory({ query, variables }) {
    const others = this.#history.filter(
      (entry) => entry.query !== query || entry.variables !== variables);
    this.#history = [{ query, variables, time: Date.now() }, ...others].slice(0, maxHistoryEntries);
    write("localStorage", "history", this.#history);
  }

  clearHistory() {
    this.#history = [];
    write("localStorage", "history", []);
  }

  /** Saves a query under a name. It replaces a query that has this name. */
  saveQuery(name, { query, variables }) {
    const others = this.#savedQueries.filter((entry) => entry.name !== name);
    this.#savedQueries = [...others, { name, query, variables }]
      .sort((first, second) => first.name.localeCompare(second.name));
    write("localStorage", "saved", this.#savedQueries);
  }

  deleteSavedQuery(name) {
    this.#savedQueries = this.#savedQueries.filter((entry) => entry.name !== name);
    write("localStorage", "saved", this.#savedQueries);
  }

  // Preferences

  preference(name, fallback) { return read("localStorage", name, fallback); }
  setPreference(name, value) { write("localStorage", name, value); }

  /** "dark" or "light". Without a stored choice it is the theme of the browser. */
  get theme() {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return this.preference("theme", isDark ? "dark" : "light");
  }
  set theme(name) { this.setPreference("theme", name); }

  // Secrets

  /** The tokens of the user, or null before the first ones: see `Session`. */
  get tokens() { return read("sessionStorage", "tokens", null); }
  set tokens(tokens) { write("sessionStorage", "tokens", tokens); }

  get headers() { return read("sessionStorage", "headers", ""); }
  set headers(text) { write("sessionStorage", "headers", text); }
}

function readQueries(name) {
  const entries = read("localStorage", name, []);
  return Array.isArray(entries) ? entries.filter(isQuery) : [];
}

function isQuery(entry) {
  return typeof entry?.query === "string" && typeof entry?.variables === "string";
}

// The storage is looked up inside of `try`, because access to it throws when it is disabled.

function read(storageName, name, fallback) {
  try {
    return JSON.parse(window[storageName].getItem(`bookplate.${name}`)) ?? fallback;
  } catch {
    return fallback;
  }
}

function write(storageName, name, value) {
  try {
    window[storageName].setItem(`bookplate.${name}`, JSON.stringify(value));
  } catch {
    // Storage is disabled or full. The page works, but forgets the value when it is closed.
  }
}
