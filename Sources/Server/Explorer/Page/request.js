// Sends GraphQL requests to the server that this page came from: plain, with files, and as a stream of events.

const single = "application/graphql-response+json, application/json;q=0.9";

function headersOf({ token, headers }, accept) {
  return { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers, accept };
}

function bodyOf({ query, variables, operationName, isExplained }) {
  return { query, variables, operationName, ...(isExplained ? { extensions: { explain: true } } : {}) };
}

// What `fetch` needs for a request: JSON, or with files the GraphQL multipart request.
export function fetchOptions(request, accept = single) {
  const body = bodyOf(request);
  const headers = headersOf(request, accept);
  if (!request.files?.length) {
    return { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  }
  // A file's place is null in the variables and named in the map.
  const form = new FormData();
  body.variables = structuredClone(body.variables ?? {});
  const map = {};
  request.files.forEach(({ path }, index) => {
    setNull(body, path.split("."));
    map[index] = [path];
  });
  form.append("operations", JSON.stringify(body));
  form.append("map", JSON.stringify(map));
  request.files.forEach(({ file }, index) => form.append(String(index), file, file.name));
  return { method: "POST", headers: { ...headers, "graphql-preflight": "1" }, body: form };
}

function setNull(object, [name, ...rest]) {
  if (rest.length === 0) object[name] = null;
  else setNull(object[name] ??= /^\d+$/.test(rest[0]) ? [] : {}, rest);
}

export async function send(request) {
  const start = performance.now();
  const response = await fetch("/graphql", { ...fetchOptions(request), signal: request.signal, cache: "no-store" });
  const text = await response.text();
  const milliseconds = performance.now() - start;
  let json;
  try { json = JSON.parse(text); } catch { /* not GraphQL: shown as it is */ }
  return {
    status: response.status, id: response.headers.get("x-request-id"), text, json, milliseconds,
    cost: response.headers.get("x-database-cost"),
  };
}

// Runs a subscription by GraphQL over server-sent events, distinct connections mode; calls back for each result.
export async function subscribe(request, onResult) {
  const options = fetchOptions(request, "text/event-stream");
  const response = await fetch("/graphql", { ...options, signal: request.signal, cache: "no-store" });
  if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    let message = text;
    try { message = JSON.parse(text).errors[0].message; } catch { /* as it is */ }
    throw new Error(message || `status ${response.status}`);
  }
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split(/\r?\n\r?\n/);
    rest = events.pop();
    for (const event of events) {
      const field = (name) => event.split(/\r?\n/).filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).replace(/^ /, "")).join("\n");
      if (field("event") === "complete") return;
      if (field("event") === "next") onResult(JSON.parse(field("data")));
    }
  }
}

// What the server's own engine says of a document: { errors, operations, printed }.
export async function check(query, variables, signal) {
  const response = await fetch("/explorer/check", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query, variables }), signal,
  });
  return response.json();
}
