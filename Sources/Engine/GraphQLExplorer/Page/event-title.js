// Describes an event of a subscription in a few words.

const maxValues = 4;
const maxValueLength = 40;

/** Members that identify something for a program. They do not describe it. */
const isTechnical = (name) => /(?:^id|Id|ID|cursor|Cursor|At|url|Hash)$/.test(name);

/**
 * Returns a title for a result, from its outermost short values: `changes: CREATED Shelf Evenings`.
 *
 * The title of an error is its message.
 */
export function eventTitle({ data, errors }) {
  if (errors?.length) return errors[0].message;
  const [[field, value]] = Object.entries(data ?? { "": null });
  const values = [...new Set(shortValues(value))].slice(0, maxValues);
  return values.length > 0 ? `${field}: ${values.join(" ")}` : field;
}

/** Returns the short values of an object, those of the outermost members first. */
function shortValues(value) {
  const values = [];
  let level = [["", value]];
  while (level.length > 0) {
    const described = level.filter(([name]) => !isTechnical(name));
    values.push(...described.map(([, member]) => member).filter(isShort));
    level = described.map(([, member]) => member)
      .filter((member) => member && typeof member === "object")
      .flatMap((member) => Object.entries(member));
  }
  return values;
}

function isShort(value) {
  return typeof value === "number"
    || (typeof value === "string" && value !== "" && value.length <= maxValueLength);
}
