// Copies text to the clipboard.

/**
 * Copies a text. Returns a promise of whether the browser allowed it.
 *
 * `navigator.clipboard` exists only on pages of HTTPS and of this machine. On others, the text is
 * copied from a text field that is removed afterward.
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text);
  }
}

function copyFromField(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.className = "copied-text";
  field.value = text;
  // Elements outside of an open dialog cannot get the focus.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return isCopied;
}
