// What stays when the page is closed: tabs, history and theme. The token stays only as long as the window.

const tabsMax = 20;
const historyMax = 50;

const welcome = `# Write a query and run it with Ctrl-Enter or ⌘-Enter.
# The schema is on the right; a token goes below.
{
  __typename
}
`;

function read(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? fallback;
  } catch {
    return fallback;  // storage is off, or not ours
  }
}

function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is off or full: the page works, and forgets.
  }
}

const isTab = (tab) => typeof tab?.query === "string" && typeof tab?.variables === "string";
const list = (value) => (Array.isArray(value) ? value.filter(isTab) : []);

export class Store {
  constructor() {
    this.tabs = list(read("bookplate.tabs", [])).slice(0, tabsMax);
    if (this.tabs.length === 0) this.tabs.push({ query: welcome, variables: "" });
    this.active = Math.min(Math.max(Number(read("bookplate.active", 0)) || 0, 0), this.tabs.length - 1);
    this.history = list(read("bookplate.history", []));
  }

  get tab() { return this.tabs[this.active]; }

  save() {
    write("bookplate.tabs", this.tabs.map(({ query, variables }) => ({ query, variables })));
    write("bookplate.active", this.active);
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
    const entry = { query, variables, time: Date.now() };
    const others = this.history.filter((old) => old.query !== query || old.variables !== variables);
    this.history = [entry, ...others].slice(0, historyMax);
    write("bookplate.history", this.history);
  }

  forget() {
    this.history = [];
    write("bookplate.history", []);
  }

  get theme() {
    const preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return read("bookplate.theme", preferred);
  }
  set theme(name) { write("bookplate.theme", name); }

  get token() { try { return sessionStorage.getItem("bookplate.token") ?? ""; } catch { return ""; } }
  set token(text) { try { sessionStorage.setItem("bookplate.token", text); } catch { /* the page works, and forgets */ } }
}
