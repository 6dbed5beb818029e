// Reads the server's schema by introspection and answers questions about its types.
import { sendRequest } from "./client.js";

const typeFields = `kind name
  ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;
const inputFields = `name description defaultValue isDeprecated deprecationReason
  type { ${typeFields} }`;
const introspectionQuery = `query Schema { __schema {
  description queryType { name } mutationType { name } subscriptionType { name }
  directives {
    name description isRepeatable locations args(includeDeprecated: true) { ${inputFields} }
  }
  types { kind name description specifiedByURL isOneOf
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason
      args(includeDeprecated: true) { ${inputFields} } type { ${typeFields} } }
    inputFields(includeDeprecated: true) { ${inputFields} }
    interfaces { name } possibleTypes { name }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } } } }`;

const typenameField = {
  name: "__typename", args: [],
  type: { kind: "NON_NULL", ofType: { kind: "SCALAR", name: "String" } },
};

/** An error that the server returned instead of its schema, for example with introspection off. */
export class IntrospectionError extends Error {}

/** Reads the schema. Throws an `IntrospectionError` if the server does not return it. */
export async function fetchSchema(token) {
  const { json } = await sendRequest({ query: introspectionQuery, token });
  if (!json?.data?.__schema) {
    const message = json?.errors?.[0]?.message ?? "The server did not return its schema.";
    throw new IntrospectionError(message);
  }
  return new Schema(json.data.__schema);
}

/** A schema, with types and members in the form that introspection returns. */
export class Schema {
  #typesByName;

  /** @param introspection The `__schema` field of the introspection response. */
  constructor(introspection) {
    this.description = introspection.description;
    this.types = introspection.types;
    this.directives = introspection.directives;
    this.#typesByName = new Map(introspection.types.map((type) => [type.name, type]));
    /** The root types by operation: "query", "mutation", and "subscription". */
    this.rootTypes = new Map(["query", "mutation", "subscription"]
      .filter((operation) => introspection[`${operation}Type`])
      .map((operation) => [operation, this.type(introspection[`${operation}Type`].name)]));
  }

  type(name) { return this.#typesByName.get(name); }

  field(type, name) {
    if (name === "__typename") return typenameField;
    return type?.fields?.find((field) => field.name === name);
  }

  /** Whether a coordinate such as `Book` or `Book.title` exists. */
  has(coordinate) {
    const [typeName, memberName] = coordinate.split(".");
    const type = this.type(typeName);
    if (!type || memberName == null) return Boolean(type);
    return membersOf(type).some(({ name }) => name === memberName);
  }

  /** The types of the schema itself, without those of introspection. */
  get ownTypes() { return this.types.filter((type) => !isIntrospectionType(type)); }

  /** Returns the types that an inline fragment in a selection set of `type` may name. */
  fragmentTypes(type) {
    const names = new Set(possibleTypeNames(type));
    return this.ownTypes.filter((other) =>
      isComposite(other) && possibleTypeNames(other).some((name) => names.has(name)));
  }

  /** Returns the fields and input fields that use a type, as `[type, member]`. */
  usesOfType(name) {
    return this.ownTypes.flatMap((type) =>
      [...(type.fields ?? []), ...(type.inputFields ?? [])]
        .filter((member) => namedType(member.type) === name
          || member.args?.some((argument) => namedType(argument.type) === name))
        .map((member) => [type, member]));
  }
}

/** Returns the fields, input fields, and enum values of a type. */
export const membersOf = ({ fields, inputFields, enumValues }) =>
  [...(fields ?? []), ...(inputFields ?? []), ...(enumValues ?? [])];

export const isIntrospectionType = (type) => type.name.startsWith("__");

/** Whether a type has a selection set. */
export const isComposite = (type) => ["OBJECT", "INTERFACE", "UNION"].includes(type?.kind);

/** Whether variables and arguments may have a type. */
export const isInput = (type) => ["SCALAR", "ENUM", "INPUT_OBJECT"].includes(type?.kind);

/** Whether an argument or input field must be given. */
export const isRequired = (input) => input.type.kind === "NON_NULL" && input.defaultValue == null;

/** Returns the name of a type reference without its list and non-null wrappers. */
export const namedType = (type) => (type?.ofType ? namedType(type.ofType) : type?.name);

/** Returns a type reference as in the schema language: `[String!]!`. */
export function typeReferenceText(type) {
  if (type.kind === "NON_NULL") return `${typeReferenceText(type.ofType)}!`;
  if (type.kind === "LIST") return `[${typeReferenceText(type.ofType)}]`;
  return type.name;
}

const possibleTypeNames = (type) => (type.possibleTypes ?? [type]).map(({ name }) => name);
