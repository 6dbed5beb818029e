// The editors: CodeMirror with a mode for GraphQL and one for JSON.
import CodeMirror from "/explorer/codemirror.js";

const graphQL = [
  [/#.*/, "comment"], [/"(?:\\.|[^"\\])*"?/, "string"], [/-?\d[\d.eE+-]*/, "number"], [/\$\w*/, "variable"],
  [/@\w*/, "meta"], [/\.\.\./, "keyword"], [/(?:true|false|null)\b/, "atom"],
  [/(?:query|mutation|subscription|fragment|on)\b(?!\s*:)/, "keyword"], [/\w+(?=\s*:)/, "attribute"], [/\w+/, "property"],
];
const json = [
  [/"(?:\\.|[^"\\])*"?(?=\s*:)/, "property"], [/"(?:\\.|[^"\\])*"?/, "string"], [/-?\d[\d.eE+-]*/, "number"],
  [/(?:true|false|null)\b/, "atom"],
];

function defineMode(name, rules, hasBlocks) {
  CodeMirror.defineMode(name, ({ indentUnit }) => ({
    startState: () => ({ depth: 0, isBlock: false }),
    token(stream, state) {
      if (state.isBlock || (hasBlocks && stream.match('"""'))) {
        state.isBlock = !stream.match(/.*?"""/);
        if (state.isBlock) stream.skipToEnd();
        return "string";
      }
      if (stream.eatSpace()) return null;
      const rule = rules.find(([pattern]) => stream.match(pattern));
      if (rule) return rule[1];
      const sign = stream.next();
      if ("{[(".includes(sign)) state.depth += 1;
      else if ("}])".includes(sign)) state.depth = Math.max(0, state.depth - 1);
      return null;
    },
    indent: (state, after) => Math.max(0, state.depth - (/^[}\])]/.test(after) ? 1 : 0)) * indentUnit,
    electricInput: /^\s*[}\])]$/,
    fold: "brace", closeBrackets: '()[]{}""',
  }));
}
defineMode("graphql", graphQL, true);
defineMode("json", json, false);

// Makes comments of the selected lines, or lines of the comments.
function toggleComment(editor) {
  editor.operation(() => {
    for (const { anchor, head } of editor.listSelections()) {
      const [first, last] = [anchor.line, head.line].sort((a, b) => a - b);
      const lines = editor.getRange(place(first, 0), place(last)).split("\n");
      const isComment = lines.every((line) => /^\s*#/.test(line));
      const changed = lines.map((line) => (isComment ? line.replace(/^(\s*)# ?/, "$1") : `# ${line}`));
      editor.replaceRange(changed.join("\n"), place(first, 0), place(last));
    }
  });
}

// An editor in place of `element`, named by `label`. Tab leaves it, so that the keyboard alone suffices.
export function makeEditor(element, { mode, label, placeholder, keys, hint, lint, onChange }) {
  const editor = CodeMirror(element, {
    mode, placeholder, lineNumbers: mode === "graphql", indentUnit: 2, tabSize: 2, lineWrapping: true,
    matchBrackets: true, autoCloseBrackets: true, foldGutter: mode === "graphql", inputStyle: "contenteditable",
    gutters: mode === "graphql" ? ["CodeMirror-lint-markers", "CodeMirror-linenumbers", "CodeMirror-foldgutter"] : [],
    spellcheck: false, autocorrect: false, autocapitalize: false,
    hintOptions: { hint, completeSingle: false, closeCharacters: /[\s()[\]{};>,]/ },
    lint: lint ? { getAnnotations: lint, async: true, delay: 250, highlightLines: false } : false,
    extraKeys: {
      Tab: false, "Shift-Tab": false, "Ctrl-Space": "autocomplete", "Cmd-Space": "autocomplete", "Alt-Space": "autocomplete",
      "Ctrl-/": toggleComment, "Cmd-/": toggleComment, "Ctrl-]": "indentMore", "Ctrl-[": "indentLess", ...keys,
    },
  });
  editor.getInputField().setAttribute("aria-label", label);
  editor.on("change", (_, { origin }) => { if (origin !== "setValue") onChange?.(editor.getValue()); });
  // Suggests as one types a name, or what opens a place for one.
  editor.on("inputRead", (_, { text, origin }) => {
    if (hint && origin === "+input" && /[\w$@"]$/.test(text.at(-1)) && !editor.state.completionActive) editor.showHint();
  });
  return editor;
}

// A text that can be read, folded and copied, and not changed.
export function makeViewer(element, label) {
  const viewer = CodeMirror(element, {
    mode: "json", readOnly: true, lineWrapping: true, foldGutter: true, gutters: ["CodeMirror-foldgutter"],
    inputStyle: "contenteditable", matchBrackets: true,
    extraKeys: {
      Tab: false, "Shift-Tab": false, "Ctrl-Q": (editor) => editor.foldCode(editor.getCursor()),
    },
  });
  viewer.getInputField().setAttribute("aria-label", label);
  return viewer;
}

// Candidates of `complete` as CodeMirror's hint.
export function hintOf(editor, { from, list }) {
  const cursor = editor.getCursor();
  // A quotation mark that was closed by itself is part of what is completed.
  const isClosed = list[0]?.text.startsWith('"') && editor.getLine(cursor.line)[cursor.ch] === '"';
  return {
    from: editor.posFromIndex(from), to: place(cursor.line, cursor.ch + (isClosed ? 1 : 0)),
    list: list.map((one) => ({
      text: one.text, className: one.isDeprecated ? "deprecated" : "",
      render(element) {
        const name = document.createElement("span");
        name.textContent = one.displayText;
        const type = document.createElement("small");
        type.textContent = one.type;
        element.append(name, type);
        if (one.description) element.title = one.description;
      },
    })),
  };
}

export const place = (line, column) => CodeMirror.Pos(line, column);
