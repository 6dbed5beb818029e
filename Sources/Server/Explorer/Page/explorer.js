// The page: wires the editors, the tabs, the lists and the schema together.
import { Answer } from "./answer.js";
import { Builder } from "./builder.js";
import { completeQuery, completeVariables } from "./complete.js";
import { byID, make } from "./dom.js";
import { Docs } from "./docs.js";
import { hintOf, makeEditor, place } from "./editors.js";
import { asCurl, asLink, asSwift, fromLink } from "./export.js";
import { parse } from "./parse.js";
import { check, send, subscribe } from "./request.js";
import { introspection, Schema } from "./schema.js";
import { signInDialog } from "./signin.js";
import { Store } from "./store.js";

const store = new Store();
const docs = new Docs({ search: byID("search"), trail: byID("trail"), page: byID("doc") });
const builder = new Builder(byID("builder"), (text) => { query.setValue(text); changeQuery(text); prettify(true); });
const answer = new Answer();
let schema = null;
let running = null;
let linting = null;
// What the server's engine said last of the document.
let checked = { errors: [], operations: [], variableErrors: [], printed: null };
// The rows of each tab's pane of files. They end with the page, which may not keep a person's files.
const filesOfTabs = new WeakMap();

// Editors

const keys = {
  "Ctrl-Enter": () => run(), "Cmd-Enter": () => run(), "Shift-Ctrl-P": () => prettify(), "Shift-Cmd-P": () => prettify(),
};
const query = makeEditor(byID("query"), {
  mode: "graphql", label: "Query", keys, onChange: changeQuery,
  hint: (editor) => schema && hintOf(editor, completeQuery(editor.getValue(), editor.indexFromPos(editor.getCursor()), schema)),
  lint: (text, update) => lint(text).then(update),
});
const variables = makeEditor(byID("variables"), {
  mode: "json", label: "Variables, as JSON", placeholder: "{ }", keys, onChange: changeVariables,
  hint: (editor) => schema && hintOf(editor, completeVariables(
    editor.getValue(), editor.indexFromPos(editor.getCursor()), operation()?.variables ?? [], schema)),
});
const headers = makeEditor(byID("headers"), {
  mode: "json", label: "Headers, as JSON", placeholder: '{ "accept-language": "de" }', keys,
  onChange: (text) => { store.headers = text; byID("headers-problem").textContent = readObject(text).problem ?? ""; },
});

function changeQuery(text) {
  store.tab.query = text;
  store.save();
  showTabTitle();
  builder.update(text);
}

function changeVariables(text) {
  store.tab.variables = text;
  store.save();
  showVariableProblem();
  query.performLint();  // which tells what the engine says of the variables, too
}

async function lint(text) {
  linting?.abort();
  linting = new AbortController();
  try {
    checked = await check(text, readObject(variables.getValue()).value, linting.signal);
  } catch {
    return [];  // a newer check is under way, or the server is away
  }
  showOperations();
  showVariableProblem();
  return checked.errors.flatMap(({ message, locations }) => (locations.length ? locations : [{ line: 1, column: 1 }]).map(({ line, column }) => {
    const length = query.getLine(line - 1)?.slice(column - 1).match(/^[$@]?\w+|^\.\.\.|^./)?.[0].length ?? 1;
    return { message, severity: "error", from: place(line - 1, column - 1), to: place(line - 1, column - 1 + length) };
  }));
}

// A JSON object, or what is wrong with it; nothing where there is no text.
function readObject(text) {
  if (!text.trim()) return {};
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? { value } : { problem: "must be an object: { … }" };
  } catch (error) {
    return { problem: error.message };
  }
}

function showVariableProblem() {
  const problem = readObject(variables.getValue()).problem ?? checked.variableErrors?.[0]?.message;
  byID("variables-problem").textContent = problem ?? "";
}

// Prints the document as the server's engine does. Its printer knows no comments: where there are any it asks first.
async function prettify(isByItself = false) {
  const text = query.getValue();
  const comments = text.match(/^\s*(#[^\n]*\n\s*)+/)?.[0].trim() ?? "";
  const rest = text.slice(text.indexOf(comments) + comments.length);
  const hasMore = parseComments(rest);
  if (hasMore && (isByItself || !confirm("Comments between the fields would be lost. Go on?"))) return;
  const { printed } = await check(rest).catch(() => ({}));
  if (!printed || query.getValue() !== text) return;
  const cursor = query.getCursor();
  const result = (comments ? comments + "\n" : "") + printed;
  if (result === text) return;
  query.operation(() => { query.setValue(result); query.setCursor(cursor); });
  changeQuery(result);
}

const parseComments = (text) => /#/.test(text.replace(/"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n])*"/g, ""));

// Tabs

function title(tab) {
  const [first] = parse(tab.query).children.filter((node) => node.kind !== "definition");
  return (first?.name ?? first?.children[0]?.name ?? "new").slice(0, 24);
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
        type: "button", role: "tab", "aria-selected": String(isActive), tabIndex: isActive ? 0 : -1,
        onclick: () => choose(index), onkeydown: moveAmongTabs,
      }, name),
      make("button", {
        type: "button", className: "close", "aria-label": `Close ${name}`, tabIndex: isActive ? 0 : -1, onclick: () => close(index),
      }, "×"));
  }));
  query.setValue(store.tab.query);
  query.clearHistory();
  variables.setValue(store.tab.variables);
  byID("files").replaceChildren(...fileRows(store.tab));
  showVariableProblem();
  builder.update(store.tab.query);
  if (store.tab.answer) answer.show(store.tab.answer);
  else answer.clear();
}

function moveAmongTabs({ key }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  choose((store.active + step + store.tabs.length) % store.tabs.length);
  byID("tabs").children[store.active].firstChild.focus();
}

function choose(index) { store.active = index; store.save(); showTab(); }
function close(index) { store.close(index); showTab(); }
function openTab(tab) { store.open(tab); showTab(); query.focus(); }

// Operations of the document

function showOperations() {
  const names = checked.operations.map((one) => one.name).filter(Boolean);
  const select = byID("operation");
  const chosen = select.value;
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
  select.hidden = names.length < 2;
}

function operation() {
  return checked.operations.length > 1
    ? checked.operations.find((one) => one.name === byID("operation").value) : checked.operations[0];
}

// Running

function request() {
  const chosen = operation();
  return {
    query: query.getValue(), variables: readObject(variables.getValue()).value,
    operationName: checked.operations.length > 1 ? chosen?.name : undefined,
    headers: readObject(headers.getValue()).value ?? {}, token: store.token,
    files: [...byID("files").children].map((row) => ({
      path: row.querySelector("input[type=text]").value.trim(), file: row.querySelector("input[type=file]").files[0],
    })).filter(({ path, file }) => path && file),
    isExplained: byID("explain").checked,
  };
}

async function run() {
  if (running) return running.abort();
  for (const [pane, editor] of [["variables", variables], ["headers", headers]]) {
    const { problem } = readObject(editor.getValue());
    if (problem) return answer.say(`The ${pane} are no JSON object: ${problem}`);
  }
  const tab = store.tab;
  running = new AbortController();
  byID("run").textContent = "Stop";
  answer.clear();
  answer.say("running …", "");
  store.remember(tab.query, tab.variables);
  showLists();
  try {
    await lint(query.getValue());
    const asked = { ...request(), signal: running.signal };
    if (operation()?.kind === "subscription") {
      answer.showList(true);
      answer.say("waiting for events …", "good");
      await subscribe(asked, (event) => { answer.add(event); answer.say("receiving events …", "good"); });
      answer.say("the subscription has ended", "");
    } else {
      tab.answer = await send(asked);
      if (tab === store.tab) answer.show(tab.answer);
    }
  } catch (error) {
    answer.say(error.name === "AbortError" ? "stopped" : error instanceof TypeError ? "the server does not answer" : error.message);
  }
  running = null;
  byID("run").textContent = "Run";
}

// Files of a multipart request

function fileRows(tab) {
  if (!filesOfTabs.has(tab)) filesOfTabs.set(tab, new Set());
  return filesOfTabs.get(tab);
}

byID("add-file").onclick = async () => {
  await lint(query.getValue());
  const uploads = (operation()?.variables ?? []).find((one) => /\bUpload\b/.test(one.type));
  const rows = fileRows(store.tab);
  const row = make("li", {},
    make("input", { type: "text", value: `variables.${uploads?.name ?? "file"}`, "aria-label": "Where the file goes", spellcheck: false }),
    make("input", { type: "file", "aria-label": "File" }),
    make("button", { type: "button", "aria-label": "Take the file away", onclick: () => { rows.delete(row); row.remove(); } }, "×"));
  rows.add(row);
  byID("files").append(row);
  row.firstChild.focus();
};

// History and saved queries

function showLists() {
  const words = byID("history-search").value.trim().toLowerCase();
  const isFound = (entry) => `${entry.name ?? ""} ${entry.query}`.toLowerCase().includes(words);
  const open = (entry) => () => openTab({ query: entry.query, variables: entry.variables });
  byID("saved-list").replaceChildren(...store.saved.filter(isFound).map((entry) => make("li", {},
    make("button", { type: "button", title: entry.query, onclick: open(entry) }, make("span", {}, entry.name)),
    make("button", {
      type: "button", className: "close", "aria-label": `Delete ${entry.name}`, onclick: () => { store.discard(entry.name); showLists(); },
    }, "×"))));
  byID("history-list").replaceChildren(...store.history.filter(isFound).map((entry) => make("li", {},
    make("button", { type: "button", title: entry.query, onclick: open(entry) },
      make("span", {}, title(entry)), make("small", {}, new Date(entry.time).toLocaleString())))));
}

byID("history-search").oninput = showLists;
byID("clear-history").onclick = () => { store.forget(); showLists(); };
byID("save").onclick = () => {
  byID("save-name").value = title(store.tab);
  byID("save-dialog").showModal();
};
byID("save-dialog").onclose = () => {
  const name = byID("save-name").value.trim();
  if (byID("save-dialog").returnValue !== "save" || !name) return;
  store.keep(name, store.tab.query, store.tab.variables);
  showPanel("lists");
  showLists();
};

// Schema

async function loadSchema() {
  docs.say("reading the schema …");
  try {
    const { json } = await send({ query: introspection, token: store.token });
    if (!json?.data?.__schema) {
      // Without introspection queries still run, but there is nothing to read, to build from, or to complete.
      const message = json?.errors?.[0]?.message ?? "The server did not return its schema.";
      builder.say(message);
      return docs.say(message);
    }
    schema = new Schema(json.data.__schema);
    docs.set(schema);
    builder.update(query.getValue(), schema);
  } catch {
    docs.say("The server does not answer.");
  }
}

// Panels, buttons and keys

function showPanel(name, isShown = true) {
  byID(name).hidden = !isShown;
  document.querySelector(`[aria-controls="${name}"]`).setAttribute("aria-pressed", String(isShown));
  store.set("panels", { ...store.get("panels", {}), [name]: isShown });
  if (name === "build" && isShown && schema) builder.show();
}

for (const button of document.querySelectorAll("button[aria-controls]")) {
  if (button.role === "tab") continue;
  const name = button.getAttribute("aria-controls");
  button.onclick = () => showPanel(name, byID(name).hidden);
}

const tools = [...document.querySelectorAll("#tools [role=tab]")];
function showTool(tool) {
  for (const one of tools) {
    const isShown = one === tool;
    one.setAttribute("aria-selected", String(isShown));
    one.tabIndex = isShown ? 0 : -1;
    byID(one.getAttribute("aria-controls")).hidden = !isShown;
  }
  variables.refresh();
  headers.refresh();
}
tools.forEach((tool, index) => {
  tool.onclick = () => showTool(tool);
  tool.onkeydown = ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tools[(index + step + tools.length) % tools.length];
    showTool(next);
    next.focus();
  };
});

function copy(text, what) {
  navigator.clipboard?.writeText(text).then(() => answer.say(`${what} copied`, "good"), () => answer.say("copying is not allowed here"));
}
const exported = () => ({ ...request(), hasToken: Boolean(store.token) });

byID("run").onclick = run;
byID("new-tab").onclick = () => openTab();
byID("prettify").onclick = () => prettify();
byID("copy").onclick = () => copy(answer.text, "response");
byID("copy-as").onchange = ({ target }) => {
  const { value } = target;
  target.value = "";
  if (value === "curl") copy(asCurl(exported()), "command");
  if (value === "swift") copy(asSwift(exported()), "Swift code");
  if (value === "link") copy(asLink(store.tab), "link");
};
byID("token").value = store.token;
byID("token").oninput = ({ target }) => { store.token = target.value.trim(); };
byID("token").onchange = () => loadSchema();
byID("show-token").onclick = ({ target }) => {
  const isHidden = byID("token").type === "password";
  byID("token").type = isHidden ? "text" : "password";
  target.setAttribute("aria-pressed", String(isHidden));
};
byID("explain").checked = store.get("explain", true);
byID("explain").onchange = ({ target }) => store.set("explain", target.checked);
byID("show-keys").onclick = () => byID("keys-dialog").showModal();
byID("theme").onclick = () => {
  store.theme = store.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = store.theme;
};

document.addEventListener("keydown", (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  const action = event.key === "F1" ? () => byID("keys-dialog").showModal()
    : isCommand && event.key === "Enter" && !event.defaultPrevented ? run
    // By the key's place: with Alt, some keyboards make another letter of it.
    : event.altKey && !isCommand ? {
      KeyN: () => openTab(), KeyW: () => close(store.active), KeyS: () => byID("save").click(),
      KeyQ: () => query.focus(), KeyR: () => answer.viewer.focus(),
      KeyB: () => showPanel("build", byID("build").hidden), KeyH: () => showPanel("lists", byID("lists").hidden),
      KeyK: () => { showPanel("docs"); byID("search").focus(); },
    }[event.code] : null;
  if (!action) return;
  event.preventDefault();
  action();
});

// Begin

document.documentElement.dataset.theme = store.theme;
const isNarrow = matchMedia("(max-width: 60rem)").matches;
const panels = { docs: !isNarrow, build: false, lists: false, ...(isNarrow ? {} : store.get("panels", {})) };
for (const name of ["docs", "build", "lists"]) {
  byID(name).hidden = !panels[name];
  document.querySelector(`[aria-controls="${name}"]`).setAttribute("aria-pressed", String(panels[name]));
}
headers.setValue(store.headers);
const asked = fromLink();
if (asked) {
  store.open(asked);
  history.replaceState(null, "", location.pathname);
}
showTab();
showLists();
loadSchema();
signInDialog({ store, onSignedIn: (token) => { byID("token").value = token; answer.say("signed in", "good"); loadSchema(); } });
