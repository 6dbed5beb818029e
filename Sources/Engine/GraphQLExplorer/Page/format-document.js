// Formats documents with the printer of the server.
import { checkDocument } from "./client.js";

/**
 * Returns the formatted document, or null if it cannot be parsed or would lose comments.
 *
 * The server's printer drops comments. This function keeps the comments before the first
 * definition. If there are other comments, it returns null unless `confirmCommentLoss()` is true.
 */
export async function formatDocument(text, confirmCommentLoss) {
  const header = text.match(/^\s*(#[^\n]*\n\s*)+/)?.[0] ?? "";
  const body = text.slice(header.length);
  if (hasComments(body) && !confirmCommentLoss()) return null;
  const { printed } = await checkDocument(body).catch(() => ({ printed: null }));
  if (!printed) return null;
  return header ? `${header.trim()}\n${printed}` : printed;
}

function hasComments(text) {
  const strings = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n])*"/g;
  return text.replace(strings, "").includes("#");
}
