// Reads server-sent events from the body of a response.

/**
 * Yields each event of a stream as `{ name, data }`.
 *
 * The format is that of the HTML standard, section "Server-sent events".
 */
export async function* readEvents(stream) {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let unread = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    unread += decoder.decode(value, { stream: true });
    const events = unread.split(/\r?\n\r?\n/);
    unread = events.pop();
    for (const event of events) yield parseEvent(event);
  }
}

function parseEvent(text) {
  const lines = text.split(/\r?\n/);
  const field = (name) => lines.filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
  return { name: field("event"), data: field("data") };
}
