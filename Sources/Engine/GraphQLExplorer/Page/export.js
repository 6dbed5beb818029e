// Converts requests to curl commands, Swift code, and links to this page.
//
// Commands and code contain a placeholder for the access token.

/** Returns a shell command that sends the request. It reads the access token from `$TOKEN`. */
export function curlCommand({ query, variables, operationName, headers, token }) {
  const headerOptions = Object.entries({ ...headers, "content-type": "application/json" })
    .map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`);
  const tokenOption = usesToken(token, headers) ? ['-H "authorization: Bearer $TOKEN"'] : [];
  return [
    `curl -s ${shellQuoted(graphQLAddress())}`, ...tokenOption, ...headerOptions,
    `-d ${shellQuoted(JSON.stringify({ query, variables, operationName }))}`,
  ].join(" \\\n  ");
}

/** Returns Swift code that sends the request with URLSession. */
export function swiftCode({ query, variables, operationName, headers, token }) {
  const headerLines = Object.entries({ ...headers, "content-type": "application/json" })
    .map(([name, value]) => setHeaderLine(JSON.stringify(name), JSON.stringify(value)));
  const tokenLine = usesToken(token, headers)
    ? [setHeaderLine('"authorization"', '"Bearer \\(accessToken)"')] : [];
  return [
    "import Foundation",
    "",
    `var request = URLRequest(url: URL(string: ${JSON.stringify(graphQLAddress())})!)`,
    'request.httpMethod = "POST"',
    ...tokenLine,
    ...headerLines,
    // JSON escapes quotation marks, so the raw string never contains three in a row.
    'request.httpBody = Data(#"""',
    JSON.stringify({ query, variables, operationName }, null, 2),
    '"""#.utf8)',
    "let (data, _) = try await URLSession.shared.data(for: request)",
    "print(String(decoding: data, as: UTF8.self))",
    "",
  ].join("\n");
}

/** Returns a link that opens a query in this page. Browsers do not send the part after the `#`. */
export function linkToQuery({ query, variables }) {
  const fragment = new URLSearchParams({ query, ...(variables.trim() ? { variables } : {}) });
  return `${location.origin}${location.pathname}#${fragment}`;
}

/** Returns the query of the link that opened this page, or null. */
export function queryFromLink() {
  for (const text of [location.hash.slice(1), location.search.slice(1)]) {
    const parameters = new URLSearchParams(text);
    if (!parameters.has("query")) continue;
    return { query: parameters.get("query"), variables: parameters.get("variables") ?? "" };
  }
  return null;
}

/** Whether the request sends the access token. A header of the user replaces it. */
const usesToken = (token, headers) => Boolean(token) && !("authorization" in headers);

const graphQLAddress = () => `${location.origin}/graphql`;

const shellQuoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const setHeaderLine = (name, value) => `request.setValue(${value}, forHTTPHeaderField: ${name})`;
