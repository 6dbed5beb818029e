// Parses each file named on the command line over and over; prints the nanoseconds of one parse, a line a file.
const { readFileSync } = require('fs');
const { parse } = require('graphql');

for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, 'utf8');
  const rounds = Math.ceil(5e6 / text.length);
  let best = Infinity;
  for (let sample = 0; sample < 15; sample++) {
    const start = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) parse(text);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / rounds);
  }
  console.log(best);
}
