// The page: wires the editors, the tabs, the history and the schema together.
import { byID, make } from "./dom.js";
import { Docs, introspection } from "./docs.js";
import { makeEditor } from "./editor.js";
import { paintGraphQL, paintJSON } from "./highlight.js";
import { operationNames, send } from "./request.js";
import { Store } from "./store.js";

const store = new Store();
const docs = new Docs({ search: byID("search"), trail: byID("trail"), page: byID("doc") });
let running = null;

const query = makeEditor(byID("query"), paintGraphQL, (text) => {
  store.tab.query = text;
  store.save();
  showOperations();
  showTabTitle();
});
const variables = makeEditor(byID("variables"), paintJSON, (text) => {
  store.tab.variables = text;
  store.save();
  byID("variables-problem").textContent = readVariables().problem ?? "";
});

// Tabs

function title(tab) {
  const name = operationNames(tab.query)[0];
  const field = tab.query.replace(/#[^\n]*/g, "").match(/{\s*(\w+)/)?.[1];
  return (name ?? field ?? "new").slice(0, 24);
}

function showTabTitle() {
  byID("tabs").children[store.active].firstChild.textContent = title(store.tab);
}

function showTab() {
  byID("tabs").replaceChildren(...store.tabs.map((tab, index) => {
    const isActive = index === store.active;
    const name = title(tab);
    return make("div", { className: isActive ? "tab active" : "tab", role: "presentation" },
      make("button", {
        type: "button", role: "tab", "aria-selected": isActive, tabIndex: isActive ? 0 : -1,
        onclick: () => choose(index),
      }, name),
      make("button", {
        type: "button", className: "close", "aria-label": `Close ${name}`, tabIndex: isActive ? 0 : -1,
        onclick: () => { store.close(index); showTab(); },
      }, "×"));
  }));
  query.value = store.tab.query;
  variables.value = store.tab.variables;
  byID("variables-problem").textContent = readVariables().problem ?? "";
  showOperations();
  showAnswer(store.tab.answer);
}

function choose(index) {
  store.active = index;
  store.save();
  showTab();
}

byID("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  choose((store.active + step + store.tabs.length) % store.tabs.length);
  byID("tabs").children[store.active].firstChild.focus();
});

function openTab(tab) {
  store.open(tab);
  showTab();
  byID("query").focus();
}

// Running

function showOperations() {
  const select = byID("operation");
  const names = operationNames(store.tab.query);
  const chosen = select.value;
  select.hidden = names.length < 2;
  select.replaceChildren(...names.map((name) => make("option", {}, name)));
  if (names.includes(chosen)) select.value = chosen;
}

function readVariables() {
  const text = store.tab.variables.trim();
  if (!text) return {};
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value)
      ? { value } : { problem: "must be a JSON object" };
  } catch (error) {
    return { problem: error.message };
  }
}

async function run() {
  if (running) return running.abort();
  const tab = store.tab;
  const { value, problem } = readVariables();
  if (problem) return byID("variables").focus();

  running = new AbortController();
  byID("run").textContent = "Stop";
  byID("summary").textContent = "running …";
  const names = operationNames(tab.query);
  store.remember(tab.query, tab.variables);
  showHistory();
  try {
    tab.answer = await send({
      query: tab.query, variables: value, token: store.token, signal: running.signal,
      operationName: names.length > 1 ? byID("operation").value : undefined,
    });
  } catch (error) {
    tab.answer = { problem: error.name === "AbortError" ? "stopped" : "the server does not answer" };
  }
  running = null;
  byID("run").textContent = "Run";
  if (tab === store.tab) showAnswer(tab.answer);
}

function showAnswer(answer) {
  const summary = byID("summary");
  if (!answer || answer.problem) {
    summary.replaceChildren(make("span", { className: "bad" }, answer?.problem ?? ""));
    byID("result").replaceChildren();
    return;
  }
  const isGood = answer.status < 400 && !answer.json?.errors;
  const size = new Blob([answer.text]).size;
  summary.replaceChildren(
    make("span", { className: isGood ? "good" : "bad" }, String(answer.status)),
    ` · ${answer.milliseconds.toFixed(answer.milliseconds < 10 ? 1 : 0)} ms · `
      + `${size < 2048 ? `${size} B` : `${(size / 1024).toFixed(1)} KiB`} · ${answer.id ?? ""}`);
  paintJSON(byID("result"), answer.json ? JSON.stringify(answer.json, null, 2) : answer.text);
}

// History

function showHistory() {
  byID("history-list").replaceChildren(...store.history.map((entry) => make("li", {},
    make("button", {
      type: "button", title: entry.query,
      onclick: () => openTab({ query: entry.query, variables: entry.variables }),
    }, make("span", {}, title(entry)), make("small", {}, new Date(entry.time).toLocaleString())))));
}

byID("clear-history").onclick = () => { store.forget(); showHistory(); };

// Schema

async function loadSchema() {
  docs.say("reading the schema …");
  try {
    const { json } = await send({ query: introspection, token: store.token });
    if (json?.data?.__schema) docs.set(json.data.__schema);
    else docs.say(json?.errors?.[0]?.message ?? "The server does not tell its schema.");
  } catch {
    docs.say("The server does not answer.");
  }
}

// Buttons and keys

function toggle(button, section) {
  const isShown = section.hidden;
  section.hidden = !isShown;
  button.setAttribute("aria-pressed", isShown);
  return isShown;
}

byID("run").onclick = run;
byID("new-tab").onclick = () => openTab();
byID("show-history").onclick = (event) => toggle(event.target, byID("history"));
byID("show-docs").onclick = (event) => toggle(event.target, byID("docs"));
byID("copy").onclick = () => navigator.clipboard?.writeText(byID("result").textContent.trimEnd());
byID("token").value = store.token;
byID("token").oninput = (event) => { store.token = event.target.value.trim(); };
byID("token").onchange = () => loadSchema();
byID("show-token").onclick = (event) => {
  const isHidden = byID("token").type === "password";
  byID("token").type = isHidden ? "text" : "password";
  event.target.setAttribute("aria-pressed", isHidden);
};
byID("theme").onclick = () => {
  store.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = store.theme;
};

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    run();
    return;
  }
  if (!event.altKey) return;
  // By the key's place: with Alt, some keyboards make another letter of it.
  const action = {
    KeyN: () => openTab(),
    KeyW: () => { store.close(store.active); showTab(); },
    KeyK: () => {
      if (byID("docs").hidden) toggle(byID("show-docs"), byID("docs"));
      byID("search").focus();
    },
  }[event.code];
  if (!action) return;
  event.preventDefault();
  action();
});

// Begin

document.documentElement.dataset.theme = store.theme;
const asked = new URLSearchParams(location.search);
if (asked.has("query")) {
  store.open({ query: asked.get("query"), variables: asked.get("variables") ?? "" });
  history.replaceState(null, "", location.pathname);
}
showTab();
showHistory();
loadSchema();
