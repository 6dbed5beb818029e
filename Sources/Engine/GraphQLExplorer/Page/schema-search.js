// Searches the names and the descriptions of the schema.
import { isIntrospectionType, membersOf } from "./schema.js";

/**
 * Returns the types and members that contain a text, the best results first.
 *
 * Names are better than descriptions, and a name that is equal to the text or begins with it is
 * better than one that contains it. The descriptions of arguments belong to their field.
 *
 * @param searchText In lower case.
 * @returns {{coordinate: string, definition: object}[]}
 */
export function searchSchema(schema, searchText) {
  return schema.types.flatMap((type) => [
    rankedResult(type.name, type, searchText),
    ...(isIntrospectionType(type) ? [] : membersOf(type)).map((member) =>
      rankedResult(`${type.name}.${member.name}`, member, searchText)),
  ]).filter(({ rank }) => rank < ranks.none).sort((first, second) => first.rank - second.rank);
}

const ranks = { equal: 0, prefix: 1, name: 2, description: 3, none: 4 };

function rankedResult(coordinate, definition, searchText) {
  return { coordinate, definition, rank: rankOf(coordinate.toLowerCase(), definition, searchText) };
}

function rankOf(coordinate, { name, description, args = [] }, searchText) {
  const lowercaseName = name.toLowerCase();
  if (lowercaseName === searchText || coordinate === searchText) return ranks.equal;
  if (lowercaseName.startsWith(searchText)) return ranks.prefix;
  if (lowercaseName.includes(searchText)) return ranks.name;
  const texts = [description, ...args.flatMap((argument) => [argument.name, argument.description])];
  const isDescribed = texts.some((text) => text?.toLowerCase().includes(searchText));
  return isDescribed ? ranks.description : ranks.none;
}
