// Sends requests to the server that served this page.
import { readEvents } from "./event-stream.js";

const jsonMediaTypes = "application/graphql-response+json, application/json;q=0.9";

/**
 * A GraphQL request.
 *
 * @typedef {object} Request
 * @property {string} query
 * @property {object} [variables]
 * @property {string} [operationName]
 * @property {string} [token] The access token.
 * @property {Record<string, string>} [headers]
 * @property {{path: string, file: File}[]} [files] Files for variables. A path such as
 *   `variables.input.image` names the variable.
 * @property {boolean} [isExplained] Whether the server reports how it executed the request.
 * @property {AbortSignal} [signal]
 */

/** Sends a query or a mutation. Returns the response with its status and duration. */
export async function sendRequest(request) {
  const start = performance.now();
  const response = await fetchGraphQL(request, jsonMediaTypes);
  const text = await response.text();
  const milliseconds = performance.now() - start;
  return {
    status: response.status, requestID: response.headers.get("x-request-id"), text,
    json: parseJSON(text), milliseconds, cost: response.headers.get("x-database-cost"),
  };
}

/** An error instead of a result, with the error's code if there is one. */
export class RequestError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/**
 * Runs a subscription and passes each result to `onResult` until the server completes it. Calls `onOpen` when
 * the server has accepted it: later events are not missed.
 *
 * The protocol is GraphQL over server-sent events in its distinct connections mode. Throws a
 * `RequestError` if the server refuses the subscription, or ends it with the session.
 */
export async function subscribe(request, { onOpen, onResult }) {
  const response = await fetchGraphQL(request, "text/event-stream");
  if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await response.text();
    const error = parseJSON(text)?.errors?.[0];
    const message = error?.message ?? text;
    throw new RequestError(
      message || `The server responded with the status ${response.status}.`, error?.extensions?.code);
  }
  onOpen();
  for await (const { name, data } of readEvents(response.body)) {
    if (name === "complete") return;
    if (name === "next") onResult(resultOrError(JSON.parse(data)));
  }
}

/** Returns a result. Throws if it says that the session has ended. */
function resultOrError(result) {
  const error = result.errors?.find(({ extensions }) => extensions?.code === "UNAUTHENTICATED");
  if (error && !result.data) throw new RequestError(error.message, error.extensions.code);
  return result;
}

/** Lets the server check a document: `{ errors, operations, variableErrors, printed }`. */
export async function checkDocument(query, variables, signal) {
  const response = await postJSON("/explorer/check", { query, variables }, signal);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Returns what the server allows on this page: `{ isDevelopment, hasDevelopmentSignIn }`. */
export async function fetchSettings() {
  const response = await fetch("/explorer/settings");
  return response.json();
}

/** Returns the audiences of the tenants. Only a development server lists them. */
export async function fetchAudiences() {
  const response = await fetch("/development/audiences");
  if (!response.ok) throw new Error(await response.text());
  const { audiences } = await response.json();
  return audiences;
}

/** Returns an identity token for a subject. Only a development server issues it. */
export async function fetchIdentityToken(subject, audience) {
  const response = await postJSON("/development/identity-token", { subject, audience });
  if (!response.ok) throw new Error(await response.text());
  const { identityToken } = await response.json();
  return identityToken;
}

function fetchGraphQL(request, accept) {
  const { contentHeaders, body } = request.files?.length
    ? encodeMultipart(request) : encodeJSON(request);
  const authorization = request.token ? { authorization: `Bearer ${request.token}` } : {};
  return fetch("/graphql", {
    method: "POST", headers: { ...authorization, ...request.headers, accept, ...contentHeaders },
    body, signal: request.signal, cache: "no-store",
  });
}

function postJSON(path, value, signal) {
  return fetch(path, {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value),
    signal,
  });
}

function operationOf({ query, variables, operationName, isExplained }) {
  const extensions = isExplained ? { explain: true } : undefined;
  return { query, variables, operationName, extensions };
}

function encodeJSON(request) {
  return {
    contentHeaders: { "content-type": "application/json" },
    body: JSON.stringify(operationOf(request)),
  };
}

/**
 * Encodes a request with files as a GraphQL multipart request.
 *
 * A variable that is a file is null in the operation, and `map` contains its path.
 */
function encodeMultipart(request) {
  const operation = operationOf({
    ...request, variables: structuredClone(request.variables ?? {}),
  });
  for (const { path } of request.files) setNull(operation, path.split("."));
  const paths = Object.fromEntries(request.files.map(({ path }, index) => [index, [path]]));
  const form = new FormData();
  form.append("operations", JSON.stringify(operation));
  form.append("map", JSON.stringify(paths));
  request.files.forEach(({ file }, index) => form.append(String(index), file, file.name));
  return { contentHeaders: { "graphql-preflight": "1" }, body: form };
}

/** Sets the value at a path to null. Objects and lists on the way are created if necessary. */
function setNull(container, [key, ...rest]) {
  if (rest.length === 0) container[key] = null;
  else setNull(container[key] ??= /^\d+$/.test(rest[0]) ? [] : {}, rest);
}

/** Returns undefined for text that is not JSON. */
function parseJSON(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
