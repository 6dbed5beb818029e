// Creates CodeMirror editors for GraphQL and JSON.
import CodeMirror from "/explorer/codemirror.js";
import { makeElement } from "./dom.js";
import { defineModes } from "./editor-modes.js";

defineModes();

/** Returns a position in an editor. Lines and columns begin with 0. */
export const position = (line, column) => CodeMirror.Pos(line, column);

/**
 * Creates an editor inside of an element. The Tab key leaves it, so the keyboard alone suffices.
 *
 * @param {object} options
 * @param {"graphql"|"json"} options.mode
 * @param {string} options.label The name for assistive technology.
 * @param {string} [options.placeholder]
 * @param {object} options.shortcuts Functions by CodeMirror's names of keys.
 * @param {Function} [options.complete] Returns the `Completion` of a text at an offset, or null.
 * @param {Function} options.onChange Receives the text that the user typed.
 */
export function makeEditor(element, options) {
  const { mode, label, placeholder, shortcuts, complete, onChange } = options;
  const isGraphQL = mode === "graphql";
  const editor = CodeMirror(element, {
    mode, placeholder, indentUnit: 2, tabSize: 2, lineWrapping: true, inputStyle: "contenteditable",
    lineNumbers: isGraphQL, foldGutter: isGraphQL, matchBrackets: true, autoCloseBrackets: true,
    gutters: isGraphQL
      ? ["CodeMirror-lint-markers", "CodeMirror-linenumbers", "CodeMirror-foldgutter"] : [],
    spellcheck: false, autocorrect: false, autocapitalize: false,
    hintOptions: {
      hint: complete && ((editor) => makeHints(editor, complete)), completeSingle: false,
      closeCharacters: /[\s()[\]{};>,]/,
    },
    extraKeys: { ...editingKeys, ...shortcuts },
  });
  describeField(editor, label);
  editor.on("change", (_, { origin }) => {
    if (origin !== "setValue") onChange(editor.getValue());
  });
  if (complete) editor.on("inputRead", showHintsWhileTyping);
  return editor;
}

/**
 * Marks the errors in an editor, now and 250 ms after each change.
 *
 * @param {Function} findErrors Returns a promise of CodeMirror's lint annotations.
 */
export function enableLinting(editor, findErrors) {
  editor.setOption("lint", {
    getAnnotations: (_, showAnnotations) => findErrors().then(showAnnotations),
    async: true, delay: 250, highlightLines: false,
  });
}

/** Creates a view of JSON that can be read, folded, and copied, but not changed. */
export function makeViewer(element, label) {
  const viewer = CodeMirror(element, {
    mode: "json", readOnly: true, lineWrapping: true, foldGutter: true,
    gutters: ["CodeMirror-foldgutter"], inputStyle: "contenteditable", matchBrackets: true,
    extraKeys: {
      Tab: false, "Shift-Tab": false, "Ctrl-Q": (editor) => editor.foldCode(editor.getCursor()),
    },
  });
  describeField(viewer, label);
  viewer.getInputField().setAttribute("aria-readonly", "true");
  return viewer;
}

/** Describes the element that has the focus to assistive technology. */
function describeField(editor, label) {
  const field = editor.getInputField();
  field.setAttribute("role", "textbox");
  field.setAttribute("aria-multiline", "true");
  field.setAttribute("aria-label", label);
}

const editingKeys = {
  Tab: false, "Shift-Tab": false,
  "Ctrl-Space": "autocomplete", "Cmd-Space": "autocomplete", "Alt-Space": "autocomplete",
  "Ctrl-/": toggleComments, "Cmd-/": toggleComments,
  "Ctrl-]": "indentMore", "Ctrl-[": "indentLess",
};

/** Comments out the selected lines, or uncomments them if all are comments. */
function toggleComments(editor) {
  editor.operation(() => {
    for (const { anchor, head } of editor.listSelections()) {
      const [first, last] = [anchor.line, head.line].sort((a, b) => a - b);
      const [start, end] = [position(first, 0), position(last)];
      const lines = editor.getRange(start, end).split("\n");
      const areComments = lines.every((line) => /^\s*#/.test(line));
      const toggle = (line) => (areComments ? line.replace(/^(\s*)# ?/, "$1") : `# ${line}`);
      editor.replaceRange(lines.map(toggle).join("\n"), start, end);
    }
  });
}

/** Shows suggestions while the user types a name, or a character that begins one. */
function showHintsWhileTyping(editor, { text, origin }) {
  const isTyped = origin === "+input" && /[\w$@"]$/.test(text.at(-1));
  if (isTyped && !editor.state.completionActive) editor.showHint();
}

/** Returns a completion in the form of CodeMirror's show-hint addon. */
function makeHints(editor, complete) {
  const cursor = editor.getCursor();
  const completion = complete(editor.getValue(), editor.indexFromPos(cursor));
  if (!completion) return null;
  const { from, suggestions } = completion;
  // The closing quotation mark that the editor inserted is replaced, too.
  const replacesQuote = suggestions[0]?.insertText.startsWith('"')
    && editor.getLine(cursor.line)[cursor.ch] === '"';
  return {
    from: editor.posFromIndex(from), to: position(cursor.line, cursor.ch + (replacesQuote ? 1 : 0)),
    list: suggestions.map(makeHint),
  };
}

function makeHint({ label, insertText, detail, description, isDeprecated }) {
  return {
    text: insertText, className: isDeprecated ? "deprecated" : "",
    render(element) {
      element.append(makeElement("span", {}, label), makeElement("small", {}, detail));
      if (description) element.title = description;
    },
  };
}
