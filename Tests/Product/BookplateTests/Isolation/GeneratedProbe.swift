import GraphQL
import Testing

/// A request that is generated from the schema, so that the tests include fields that are added later.
struct GeneratedProbe: Sendable, CustomTestStringConvertible {
    /// The document, with a variable `$id` and, if needed, `$myShelf` and `$myBook`.
    let query: String
    /// The path of the ID in the arguments: `moveBook.to`, `createBook.input.shelfIds`.
    let path: String
    let needsShelf: Bool
    let needsBook: Bool

    var testDescription: String { path }

    /// Returns one request for each ID in the arguments of queries and mutations, at any depth.
    static func forIDs(in schema: Schema) -> [GeneratedProbe] {
        forIDs(in: schema, "query", schema.queryType)
            + forIDs(in: schema, "mutation", schema.mutationType)
    }

    /// Returns one request for each ID in the arguments of subscriptions.
    static func forSubscriptions(in schema: Schema) -> [GeneratedProbe] {
        forIDs(in: schema, "subscription", schema.subscriptionType)
    }

    private static func forIDs(
        in schema: Schema, _ kind: String, _ root: TypeDefinition?
    ) -> [GeneratedProbe] {
        (root?.fieldsType?.fields ?? []).flatMap { field in
            field.arguments.flatMap { argument in
                idPaths(in: argument.type, schema).map { path in
                    GeneratedProbe(kind, field, argument.name, path, schema)
                }
            }
        }
    }

    /// Returns the paths of all IDs in a type.
    private static func idPaths(in type: TypeReference, _ schema: Schema) -> [[String]] {
        if type.namedType == "ID" { return [[]] }
        guard case .inputObject(let input) = schema.type(named: type.namedType)?.kind else {
            return []
        }
        return input.fields.flatMap { field in
            idPaths(in: field.type, schema).map { [field.name] + $0 }
        }
    }

    private init(
        _ kind: String, _ field: FieldDefinition, _ name: String, _ idPath: [String],
        _ schema: Schema
    ) {
        let literals = Literals(schema: schema)
        let arguments = field.arguments.compactMap { argument -> String? in
            if argument.name == name {
                return "\(name): \(literals.literal(argument.type, named: name, idAt: idPath[...]))"
            }
            return argument.type.isNonNull
                ? "\(argument.name): \(literals.literal(argument.type, named: argument.name))" : nil
        }.joined(separator: ", ")
        let selection = literals.selection(of: field.type, depth: 2)
        needsShelf = arguments.contains("$myShelf")
        needsBook = arguments.contains("$myBook")
        let variables =
            "$id: ID!" + (needsShelf ? ", $myShelf: ID!" : "") + (needsBook ? ", $myBook: ID!" : "")
        query = "\(kind)(\(variables)) { \(field.name)(\(arguments))\(selection) }"
        path = ([field.name, name] + idPath).joined(separator: ".")
    }
}

/// Generates values and selections from a schema.
struct Literals {
    let schema: Schema

    /// Returns a minimal value of a type.
    ///
    /// - Parameter idPath: The path of `$id` in the value; nil if it is elsewhere.
    func literal(
        _ type: TypeReference, named name: String, idAt idPath: ArraySlice<String>? = nil
    ) -> String {
        if case .list = type.nullable {
            return "[\(literal(type.listItem ?? type, named: name, idAt: idPath))]"
        }
        switch schema.type(named: type.namedType)?.kind {
        case .enumeration(let values): return values.first?.name ?? ""
        case .inputObject(let input):
            if input.isOneOf, let field = input.fields.last, idPath?.isEmpty != false {
                return "{\(field.name): \(literal(field.type, named: field.name))}"
            }
            let fields = input.fields.compactMap { field -> String? in
                if let first = idPath?.first, first == field.name {
                    return
                        "\(field.name): \(literal(field.type, named: field.name, idAt: idPath?.dropFirst()))"
                }
                // Most inputs need one of these fields, although each of them is optional.
                let isIncluded =
                    field.type.isNonNull
                    || ["title", "name", "percent", "text"].contains(field.name)
                return isIncluded ? "\(field.name): \(literal(field.type, named: field.name))" : nil
            }
            return "{\(fields.joined(separator: ", "))}"
        default: break
        }
        switch type.namedType {
        case "ID":
            if idPath != nil { return "$id" }
            let isShelf = ["to", "from", "moveTo"].contains(name) || name.hasPrefix("shel")
            return isShelf ? "$myShelf" : "$myBook"
        case "Int": return "1"
        case "Float": return "1.0"
        case "Boolean": return "true"
        case "PartialDate": return "\"2026-01\""
        case "DateTime": return "\"2026-01-31T12:00:00Z\""
        case "URI": return "\"https://example.com/\""
        case "Upload": return "\"upload:0\""
        default: return "\"x\""
        }
    }

    /// Returns a selection of all fields without required arguments, with nested objects up to a depth; empty for a leaf type.
    func selection(of type: TypeReference, depth: Int) -> String {
        guard let definition = schema.type(named: type.namedType), definition.isComposite else {
            return ""
        }
        var parts = ["__typename"]
        for field in definition.fieldsType?.fields ?? []
        where !field.arguments.contains(where: { $0.type.isNonNull && $0.defaultValue == nil }) {
            if schema.type(named: field.type.namedType)?.isLeaf == true {
                parts.append(field.name)
            } else if depth > 1 {
                parts.append(field.name + selection(of: field.type, depth: depth - 1))
            }
        }
        return " { \(parts.joined(separator: " ")) }"
    }
}
