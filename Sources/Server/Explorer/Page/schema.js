// The schema as introspection tells it, made ready for look-ups.

const typeRef = `kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;
const input = `name description defaultValue isDeprecated deprecationReason type { ${typeRef} }`;
export const introspection = `query Schema { __schema {
  description queryType { name } mutationType { name } subscriptionType { name }
  directives { name description isRepeatable locations args(includeDeprecated: true) { ${input} } }
  types { kind name description specifiedByURL isOneOf
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason
      args(includeDeprecated: true) { ${input} } type { ${typeRef} } }
    inputFields(includeDeprecated: true) { ${input} }
    interfaces { name } possibleTypes { name }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } } } }`;

export const named = (type) => (type?.ofType ? named(type.ofType) : type?.name);
export const isRequired = (value) => value.type.kind === "NON_NULL" && value.defaultValue == null;

export function typeText(type) {
  if (type.kind === "NON_NULL") return `${typeText(type.ofType)}!`;
  if (type.kind === "LIST") return `[${typeText(type.ofType)}]`;
  return type.name;
}

export class Schema {
  constructor(source) {
    Object.assign(this, source);
    this.byName = new Map(source.types.map((type) => [type.name, type]));
    this.roots = new Map(["query", "mutation", "subscription"]
      .filter((kind) => source[`${kind}Type`])
      .map((kind) => [kind, this.byName.get(source[`${kind}Type`].name)]));
  }

  type(name) { return this.byName.get(name); }
  field(type, name) {
    if (name === "__typename") return { name, args: [], type: { kind: "SCALAR", name: "String" } };
    return type?.fields?.find((field) => field.name === name);
  }
  isComposite(type) { return ["OBJECT", "INTERFACE", "UNION"].includes(type?.kind); }
  isInput(type) { return ["SCALAR", "ENUM", "INPUT_OBJECT"].includes(type?.kind); }

  // Types that an object of this type may also be.
  fragmentTypes(type) {
    const possible = new Set((type.possibleTypes ?? [type]).map((one) => one.name));
    return [...this.byName.values()].filter((other) => this.isComposite(other) && !other.name.startsWith("__")
      && (other.possibleTypes ?? [other]).some((one) => possible.has(one.name)));
  }

  // Where a type is used: fields and arguments, as [type, member].
  uses(name) {
    const uses = [];
    for (const type of this.byName.values()) {
      if (type.name.startsWith("__")) continue;
      for (const member of [...(type.fields ?? []), ...(type.inputFields ?? [])]) {
        const isUsed = named(member.type) === name || member.args?.some((arg) => named(arg.type) === name);
        if (isUsed) uses.push([type, member]);
      }
    }
    return uses;
  }
}
