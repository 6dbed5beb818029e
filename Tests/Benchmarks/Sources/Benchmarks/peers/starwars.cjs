// Serves the schema of Examples/Starwars with graphql-js and node's HTTP server. The arguments are the file of the schema and the
// port.
const { readFileSync } = require('fs');
const { buildSchema } = require('graphql');
const { serve } = require('./serve.cjs');

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

serve(schema, rootValue, Number(port));
