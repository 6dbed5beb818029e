// Serves the schema of Examples/Library with graphql-js and node's HTTP server. The argument is the port.
const { buildSchema } = require('graphql');
const { serve } = require('./serve.cjs');

const schema = buildSchema(`
  type Query { me: User! }
  type User { id: ID! displayName: String! shelves: [Shelf!]! }
  type Shelf { id: ID! name: String! books(first: Int! = 20): [Book!]! }
  type Book {
    id: ID! title: String! author: String! status: Status! addedAt: String! coverUrl: String! review: Review
  }
  type Review { rating: Int! text: String }
  enum Status { WANT_TO_READ READING READ }`);
const range = (count) => [...Array(count).keys()];
const book = (number) => ({
  id: `${number}`,
  title: `The Title of Book ${number}`,
  author: `Author ${number % 10}`,
  status: 'READ',
  addedAt: `2026-01-${(number % 18) + 10}T12:00:00Z`,
  coverUrl: `https://covers.example.com/1/${number}.jpg`,
  review: number % 3 === 0 ? { rating: (number % 5) + 1, text: null } : null,
});
const shelf = (number) => ({
  id: `${number}`,
  name: `Shelf ${number}`,
  books: ({ first }) => range(first).map((index) => book(100 * number + index)),
});
const me = () => ({ id: '1', displayName: 'Reader', shelves: range(5).map(shelf) });

serve(schema, { me }, Number(process.argv[2]));
