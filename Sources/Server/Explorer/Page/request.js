// Sends a GraphQL request to the server that this page came from.

export async function send({ query, variables, operationName, token, signal }) {
  const headers = {
    "content-type": "application/json",
    accept: "application/graphql-response+json, application/json;q=0.9",
  };
  if (token) headers.authorization = `Bearer ${token}`;
  const start = performance.now();
  const response = await fetch("/graphql", {
    method: "POST", headers, signal, cache: "no-store",
    body: JSON.stringify({ query, variables, operationName }),
  });
  const text = await response.text();
  const milliseconds = performance.now() - start;
  let json;
  try { json = JSON.parse(text); } catch { /* not GraphQL: shown as it is */ }
  return {
    status: response.status, id: response.headers.get("x-request-id"), text, json, milliseconds,
  };
}

// The names of a document's operations, what is in comments and strings left out.
export function operationNames(query) {
  const bare = query.replace(/"""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|#[^\n]*/g, " ");
  const names = [];
  let depth = 0;
  for (const [word, keyword, name] of bare.matchAll(/[{}]|\b(query|mutation|subscription)\s+(\w+)/g)) {
    if (word === "{") depth += 1;
    else if (word === "}") depth -= 1;
    else if (depth === 0 && keyword) names.push(name);
  }
  return names;
}
