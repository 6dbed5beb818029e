// Creates values of input types, to begin with.
import { isRequired, namedType } from "./schema.js";

/** Returns inputs with examples of their values. */
export const inputsText = (inputs, schema) =>
  inputs.map(({ name, type }) => `${name}: ${exampleValue(type, schema)}`).join(", ");

/** Returns a value of an input type: an empty string, zero, or the first of its values. */
export function exampleValue(type, schema) {
  if (type.kind === "NON_NULL") return exampleValue(type.ofType, schema);
  if (type.kind === "LIST") return `[${exampleValue(type.ofType, schema)}]`;
  const { kind, name, enumValues, inputFields, isOneOf } = schema.type(type.name);
  if (kind === "ENUM") return enumValues[0].name;
  if (kind === "INPUT_OBJECT") {
    const fields = isOneOf
      ? [inputFields.find(hasLiteral) ?? inputFields[0]] : inputFields.filter(isRequired);
    return `{ ${inputsText(fields, schema)} }`;
  }
  return { Int: "0", Float: "0", Boolean: "false" }[name] ?? '""';
}

/** Whether an input can have a value without a variable, unlike a file. */
const hasLiteral = ({ type }) => namedType(type) !== "Upload";
