// What stays when the page is closed: tabs, history, saved queries and choices. Tokens and headers may be secrets: they
// stay only as long as the window.

const tabsMax = 20;
const historyMax = 100;

const welcome = `# Write a query, or click one together under "Build". Run it with Ctrl-Enter or ⌘-Enter.
# Ctrl-Space completes; F1 lists the keys.
{
  __typename
}
`;

function read(storage, name, fallback) {
  try {
    return JSON.parse(window[storage].getItem(`bookplate.${name}`)) ?? fallback;
  } catch {
    return fallback;  // storage is off, or not ours
  }
}

function write(storage, name, value) {
  try {
    window[storage].setItem(`bookplate.${name}`, JSON.stringify(value));
  } catch {
    // Storage is off or full: the page works, and forgets.
  }
}

const isQuery = (entry) => typeof entry?.query === "string" && typeof entry?.variables === "string";
const list = (value) => (Array.isArray(value) ? value.filter(isQuery) : []);

export class Store {
  constructor() {
    this.tabs = list(read("localStorage", "tabs", [])).slice(0, tabsMax);
    if (this.tabs.length === 0) this.tabs.push({ query: welcome, variables: "" });
    this.active = Math.min(Math.max(Number(read("localStorage", "active", 0)) || 0, 0), this.tabs.length - 1);
    this.history = list(read("localStorage", "history", []));
    this.saved = list(read("localStorage", "saved", [])).filter((entry) => typeof entry.name === "string");
  }

  get tab() { return this.tabs[this.active]; }

  save() {
    write("localStorage", "tabs", this.tabs.map(({ query, variables }) => ({ query, variables })));
    write("localStorage", "active", this.active);
  }

  open(tab = { query: "", variables: "" }) {
    if (this.tabs.length === tabsMax) this.tabs.shift();
    this.tabs.push(tab);
    this.active = this.tabs.length - 1;
    this.save();
  }

  close(index) {
    this.tabs.splice(index, 1);
    if (this.tabs.length === 0) this.tabs.push({ query: "", variables: "" });
    if (this.active > index || this.active === this.tabs.length) this.active = Math.max(this.active - 1, 0);
    this.save();
  }

  remember(query, variables) {
    const others = this.history.filter((old) => old.query !== query || old.variables !== variables);
    this.history = [{ query, variables, time: Date.now() }, ...others].slice(0, historyMax);
    write("localStorage", "history", this.history);
  }

  forget() {
    this.history = [];
    write("localStorage", "history", []);
  }

  // Saves under a name, in place of what has it.
  keep(name, query, variables) {
    const others = this.saved.filter((old) => old.name !== name);
    this.saved = [...others, { name, query, variables }].sort((a, b) => a.name.localeCompare(b.name));
    write("localStorage", "saved", this.saved);
  }

  discard(name) {
    this.saved = this.saved.filter((old) => old.name !== name);
    write("localStorage", "saved", this.saved);
  }

  get(name, fallback) { return read("localStorage", name, fallback); }
  set(name, value) { write("localStorage", name, value); }

  get theme() {
    return read("localStorage", "theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }
  set theme(name) { write("localStorage", "theme", name); }

  get token() { return read("sessionStorage", "token", ""); }
  set token(text) { write("sessionStorage", "token", text); }
  get headers() { return read("sessionStorage", "headers", ""); }
  set headers(text) { write("sessionStorage", "headers", text); }
}
