// Connects the keyboard shortcuts that work everywhere on the page.

/**
 * @param {object} actions
 * @param {Function} actions.run Runs the request on Ctrl-Enter and ⌘-Enter.
 * @param {Function} actions.showShortcuts Shows the list of shortcuts on F1.
 * @param {Record<string, Function>} actions.alt The actions of the Alt key by `event.code`, which
 *   names the position of a key. With Alt, some keyboards type another character than the letter.
 */
export function connectShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    const action = actionForEvent(event, actions);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actionForEvent({ key, code, altKey, ctrlKey, metaKey, defaultPrevented }, actions) {
  const isCommand = ctrlKey || metaKey;
  if (key === "F1") return actions.showShortcuts;
  // An editor that handled the key has prevented its default action.
  if (isCommand && key === "Enter" && !defaultPrevented) return actions.run;
  return altKey && !isCommand ? actions.alt[code] : null;
}
