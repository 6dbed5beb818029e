// Shows descriptions of the schema, which are written in Markdown.
//
// It knows the parts that descriptions use: paragraphs, lists, code, emphasis, and links. Text is
// never parsed as HTML.
import { makeElement } from "./dom.js";

const listItem = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;

/** The inline parts: code, strong text, emphasized text, a link, and an address. */
const inlinePart =
  /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https?:[^)\s]+)\)|(https?:\/{2}[^\s)]+[^\s).,:;])/g;

/**
 * Returns the elements of a description.
 *
 * @param {string} text
 * @param {(code: string) => ?Element} [linkCode] Returns a link for code that names a part of the
 *   schema, or null.
 */
export function renderMarkdown(text, linkCode = () => null) {
  return text.trim().split(/\n\s*\n/).flatMap((block) => renderBlock(block, linkCode));
}

function renderBlock(block, linkCode) {
  const lines = block.split("\n");
  const start = lines.findIndex((line) => listItem.test(line));
  if (start < 0) return [makeElement("p", {}, ...renderInline(lines.join(" "), linkCode))];
  const paragraph = lines.slice(0, start);
  return [
    ...(paragraph.length > 0 ? renderBlock(paragraph.join("\n"), linkCode) : []),
    renderList(lines.slice(start), linkCode),
  ];
}

/** Makes a list. A line that does not begin an item continues the one before. */
function renderList(lines, linkCode) {
  const items = [];
  for (const line of lines) {
    const match = line.match(listItem);
    if (match) items.push(match[2]);
    else items[items.length - 1] += ` ${line.trim()}`;
  }
  const isNumbered = lines[0].match(listItem)[1] != null;
  return makeElement(isNumbered ? "ol" : "ul", {},
    ...items.map((item) => makeElement("li", {}, ...renderInline(item, linkCode))));
}

function renderInline(text, linkCode) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(inlinePart)) {
    parts.push(text.slice(end, match.index), renderInlinePart(match, linkCode));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function renderInlinePart([, code, strong, emphasis, linkText, linkURL, address], linkCode) {
  if (code) return linkCode(code) ?? makeElement("code", {}, code);
  if (strong) return makeElement("strong", {}, ...renderInline(strong, linkCode));
  if (emphasis) return makeElement("em", {}, ...renderInline(emphasis, linkCode));
  return makeElement("a", { href: linkURL ?? address, target: "_blank", rel: "noopener" },
    linkText ?? address);
}
