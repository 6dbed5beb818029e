// Serves the schema of Examples/Starwars with graphql-js and node's HTTP server. Documents are parsed and validated once. The
// arguments are the file of the schema and the port.
const { readFileSync } = require('fs');
const { createServer } = require('http');
const { parse, validate, buildSchema, execute } = require('graphql');

const [path, port] = process.argv.slice(2);
const schema = buildSchema(readFileSync(path, 'utf8'));
const appearsIn = ['NEWHOPE', 'EMPIRE', 'JEDI'];
const person = (id, name, friendIDs, other) => ({ id, name, friendIDs, appearsIn, ...other, friends });
function friends() { return this.friendIDs.map((id) => characters[id]); }
const characters = {
  1000: person('1000', 'Luke Skywalker', ['1002', '1003', '2001'], { __typename: 'Human', homePlanet: 'Tatooine' }),
  1002: person('1002', 'Han Solo', ['1000', '1003', '2001'], { __typename: 'Human' }),
  1003: person('1003', 'Leia Organa', ['1000', '1002', '2001'], { __typename: 'Human', homePlanet: 'Alderaan' }),
  2001: person('2001', 'R2-D2', ['1000', '1002', '1003'], { __typename: 'Droid', primaryFunction: 'Astromech' }),
};
const rootValue = { hero: ({ episode }) => characters[episode === 'EMPIRE' ? 1000 : 2001] };
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
}).listen(Number(port), '127.0.0.1');
