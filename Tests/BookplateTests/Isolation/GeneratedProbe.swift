import GraphQL
import Testing

/// Requests made from the schema alone, so that a field that is added later is tried like all others.
struct GeneratedProbe: Sendable, CustomTestStringConvertible {
    /// With a variable `$id`, and where it is needed `$myShelf` and `$myBook`.
    let query: String
    /// Where the id stands: `moveBook.to`, `createBook.input.shelfIds`.
    let path: String
    let needsShelf: Bool
    let needsBook: Bool

    var testDescription: String { path }

    /// One for each place of the roots' arguments, however deep, where an id can stand.
    static func forIDs(in schema: Schema) -> [GeneratedProbe] {
        forIDs(in: schema, "query", schema.queryType)
            + forIDs(in: schema, "mutation", schema.mutationType)
    }

    /// The same for what lasts.
    static func forSubscriptions(in schema: Schema) -> [GeneratedProbe] {
        forIDs(in: schema, "subscription", schema.subscriptionType)
    }

    private static func forIDs(
        in schema: Schema, _ kind: String, _ root: TypeDefinition?
    ) -> [GeneratedProbe] {
        (root?.fieldsType?.fields ?? []).flatMap { field in
            field.arguments.flatMap { argument in
                places(of: argument.type, schema).map { place in
                    GeneratedProbe(kind, field, argument.name, place, schema)
                }
            }
        }
    }

    /// The names that lead to each id in a type.
    private static func places(of type: TypeReference, _ schema: Schema) -> [[String]] {
        if type.namedType == "ID" { return [[]] }
        guard case .inputObject(let input) = schema.type(named: type.namedType)?.kind else {
            return []
        }
        return input.fields.flatMap { field in
            places(of: field.type, schema).map { [field.name] + $0 }
        }
    }

    private init(
        _ kind: String, _ field: FieldDefinition, _ name: String, _ place: [String],
        _ schema: Schema
    ) {
        let literals = Literals(schema: schema)
        let arguments = field.arguments.compactMap { argument -> String? in
            if argument.name == name {
                return "\(name): \(literals.literal(argument.type, named: name, idAt: place[...]))"
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
        path = ([field.name, name] + place).joined(separator: ".")
    }
}

/// Values and selections that a schema allows.
struct Literals {
    let schema: Schema

    /// The least value of a type.
    ///
    /// - Parameter place: the names that lead to where `$id` stands; nil where it stands elsewhere.
    func literal(
        _ type: TypeReference, named name: String, idAt place: ArraySlice<String>? = nil
    ) -> String {
        if case .list = type.nullable {
            return "[\(literal(type.listItem ?? type, named: name, idAt: place))]"
        }
        switch schema.type(named: type.namedType)?.kind {
        case .enumeration(let values): return values.first?.name ?? ""
        case .inputObject(let input):
            if input.isOneOf, let field = input.fields.last {
                return "{\(field.name): \(literal(field.type, named: field.name))}"
            }
            let fields = input.fields.compactMap { field -> String? in
                if let first = place?.first, first == field.name {
                    return
                        "\(field.name): \(literal(field.type, named: field.name, idAt: place?.dropFirst()))"
                }
                // What most inputs want, though each alone is optional.
                let isWanted = field.type.isNonNull || ["title", "name"].contains(field.name)
                return isWanted ? "\(field.name): \(literal(field.type, named: field.name))" : nil
            }
            return "{\(fields.joined(separator: ", "))}"
        default: break
        }
        switch type.namedType {
        case "ID":
            if place != nil { return "$id" }
            let isShelf = ["to", "from", "moveTo"].contains(name) || name.hasPrefix("shel")
            return isShelf ? "$myShelf" : "$myBook"
        case "Int": return "1"
        case "Float": return "1.0"
        case "Boolean": return "true"
        case "DateTime": return "\"2026-01-31T12:00:00Z\""
        case "URL": return "\"https://example.com/\""
        default: return "\"x\""
        }
    }

    /// All leaves that need no argument, and objects to that depth; empty for a leaf.
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
