// Serves a schema of graphql-js with node's HTTP server. Documents are parsed and validated once.
const { createServer } = require('http');
const { parse, validate, execute } = require('graphql');

exports.serve = (schema, rootValue, port) => {
  const documents = new Map();

  function respond(query) {
    let document = documents.get(query);
    if (!document) {
      document = parse(query);
      const errors = validate(schema, document);
      if (errors.length) return { errors };
      documents.set(query, document);
    }
    return execute({ schema, document, rootValue });
  }

  createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const result = await respond(JSON.parse(Buffer.concat(chunks).toString()).query);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(result));
    });
  }).listen(port, '127.0.0.1');
};
