// Measures the same work in graphql-js. Prints a line `name nanoseconds` for each measurement.
// The argument is a folder with `schema.graphql`, a file for each document, and `items.graphql` to execute.
const { readFileSync, readdirSync } = require('fs');
const { join } = require('path');
const { parse, validate, buildSchema, execute } = require('graphql');

const folder = process.argv[2];
const read = (name) => readFileSync(join(folder, name), 'utf8');

function measure(name, bytes, work) {
  const rounds = Math.max(1, Math.floor(1e5 / bytes));
  const end = performance.now() + 3000;
  let best = Infinity;
  for (let sample = 0; sample < 300 && (sample < 15 || performance.now() < end); sample++) {
    const start = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) work();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / rounds);
  }
  console.log(`${name} ${best}`);
}

const schema = buildSchema(read('schema.graphql'));
for (const file of readdirSync(folder).filter((name) => name.endsWith('.document'))) {
  const text = read(file);
  const name = file.replace('.document', '');
  const document = parse(text);
  if (validate(schema, document).length) throw new Error(`${name} is not valid`);
  measure(`parse ${name}`, text.length, () => parse(text));
  measure(`validate ${name}`, text.length * 5, () => validate(schema, document));
}

const items = Array.from({ length: 10000 }, (_, index) => ({
  id: `item-${index}`,
  title: `The title of book number ${index}`,
  author: index % 7 === 0 ? null : `Author ${index % 500}`,
  pages: 100 + (index % 900),
  currentPage: index % 3 === 0 ? index % 100 : null,
  rating: (index % 50) / 10,
  isRead: index % 2 === 0,
  genre: 'Science Fiction',
  addedAt: '2026-01-14T09:30:00Z',
  position: index,
}));
const document = parse(read('items.graphql'));
const run = () => execute({ schema, document, rootValue: { items } });
measure('execute items', 2e6, () => JSON.stringify(run()));
measure('without-JSON items', 2e6, run);
