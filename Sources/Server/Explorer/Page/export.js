// A request as text for elsewhere: a command, Swift code, or a link to this page.

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCurl({ query, variables, operationName, headers, hasToken }) {
  const fields = { ...(hasToken ? { authorization: "Bearer $TOKEN" } : {}), ...headers, "content-type": "application/json" };
  const body = JSON.stringify({ query, variables, operationName });
  return [
    `curl -s ${shell(location.origin + "/graphql")}`,
    ...Object.entries(fields).map(([name, value]) => `  -H ${value.includes("$TOKEN") ? `"${name}: ${value}"` : shell(`${name}: ${value}`)}`),
    `  -d ${shell(body)}`,
  ].join(" \\\n");
}

// The body stands in a raw string: in JSON no three quotes follow one another unescaped.
export function asSwift({ query, variables, operationName, headers, hasToken }) {
  const body = JSON.stringify({ query, variables, operationName }, null, 2);
  const fields = Object.entries({ ...headers, "content-type": "application/json" })
    .map(([name, value]) => `request.setValue(${JSON.stringify(value)}, forHTTPHeaderField: ${JSON.stringify(name)})`);
  return `import Foundation

var request = URLRequest(url: URL(string: ${JSON.stringify(location.origin + "/graphql")})!)
request.httpMethod = "POST"
${hasToken ? "request.setValue(\"Bearer \\(accessToken)\", forHTTPHeaderField: \"authorization\")\n" : ""}${fields.join("\n")}
request.httpBody = Data(#"""
${body}
"""#.utf8)
let (data, _) = try await URLSession.shared.data(for: request)
print(String(decoding: data, as: UTF8.self))
`;
}

// Everything stands after the #, which no browser sends.
export function asLink({ query, variables }) {
  const fragment = new URLSearchParams({ query, ...(variables.trim() ? { variables } : {}) });
  return `${location.origin}${location.pathname}#${fragment}`;
}

export function fromLink() {
  for (const text of [location.hash.slice(1), location.search.slice(1)]) {
    const asked = new URLSearchParams(text);
    if (asked.has("query")) return { query: asked.get("query"), variables: asked.get("variables") ?? "" };
  }
  return null;
}
