// A text area over its own coloured copy.

export function makeEditor(area, paint, onChange) {
  const copy = area.previousElementSibling;

  function refresh() {
    paint(copy, area.value);
    follow();
  }
  function follow() {
    copy.scrollTop = area.scrollTop;
    copy.scrollLeft = area.scrollLeft;
  }
  // Typed in this way, a change can be undone like any other.
  function insert(text) {
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    }
  }

  area.addEventListener("input", () => { refresh(); onChange(area.value); });
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    // A new line begins as deep as the one before, and deeper after an opening bracket.
    const before = area.value.slice(0, area.selectionStart);
    const indent = before.slice(before.lastIndexOf("\n") + 1).match(/^ */)[0];
    const opens = /[{([]\s*$/.test(before);
    const closes = /^\s*[})\]]/.test(area.value.slice(area.selectionEnd));
    event.preventDefault();
    insert("\n" + indent + (opens ? "  " : ""));
    if (opens && closes) {
      const caret = area.selectionStart;
      insert("\n" + indent);
      area.setSelectionRange(caret, caret);
    }
    refresh();
    onChange(area.value);
  });

  return {
    set value(text) { area.value = text; refresh(); },
    get value() { return area.value; },
  };
}
