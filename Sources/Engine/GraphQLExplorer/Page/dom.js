// Creates and finds elements of the page.

/**
 * Creates an element with properties and children.
 *
 * `role` and names with a hyphen (`data-…`, `aria-…`) become attributes, all others properties.
 */
export function makeElement(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

export const elementByID = (id) => document.getElementById(id);
