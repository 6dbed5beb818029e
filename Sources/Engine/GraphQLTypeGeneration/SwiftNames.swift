import GraphQL

/// Returns a name of the schema as a Swift identifier.
func identifier(_ name: String) -> String {
    // A single underscore is not an identifier. Two are free: they begin the names of introspection.
    if name == "_" { return "__" }
    return keywords.contains(name) ? "`\(name)`" : name
}

/// Returns a name of the schema as the label of an argument in a call, where the compiler warns of unnecessary backticks.
func label(_ name: String) -> String {
    name == "inout" || name == "_" ? identifier(name) : name
}

/// Returns the names of the cases for the values of an enum: `NEW_HOPE` becomes `newHope`. If two values would get the same
/// name, all of them keep theirs.
func caseNames(_ values: [String]) -> [String] {
    let names = values.map(lowerCamelCase)
    return (Set(names).count == names.count ? names : values).map(identifier)
}

/// Converts a name in upper case with underscores. Returns other names as they are.
private func lowerCamelCase(_ name: String) -> String {
    let words = name.split(separator: "_").map { $0.lowercased() }
    guard !name.contains(where: \.isLowercase), let first = words.first else { return name }
    let others = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return (name.hasPrefix("_") ? "_" : "") + first + others.joined()
}

extension TypeReference {
    /// Returns the Swift type of the values.
    func swiftType(_ schema: Schema) -> String {
        switch self {
        case .nonNull(let type, _): type.swiftTypeOfNonNull(schema)
        case .named, .list: optional(swiftTypeOfNonNull(schema))
        }
    }

    /// Returns the Swift type of the values that are not null.
    func swiftTypeOfNonNull(_ schema: Schema) -> String {
        switch self {
        case .nonNull(let type, _): type.swiftTypeOfNonNull(schema)
        case .list(let item, _): "[\(item.swiftType(schema))]"
        case .named(let name): schema.swiftName(name.value)
        }
    }

    private func optional(_ type: String) -> String {
        type.hasPrefix("any ") ? "(\(type))?" : type + "?"
    }
}

extension Schema {
    /// Returns the Swift type of a type of the schema. Object types and custom scalars have the name that they have in the schema.
    fileprivate func swiftName(_ name: String) -> String {
        switch name {
        case "ID": return standard("String")
        case "Float": return standard("Double")
        case "Boolean": return standard("Bool")
        case "Int", "String": return name
        default:
            let isAbstract = type(named: name)?.isAbstract == true
            return (isAbstract ? "any " : "") + identifier(name)
        }
    }

    /// Returns the name of a type of the standard library, with its module if the schema has a type of the same name.
    func standard(_ name: String) -> String {
        let isBuiltIn = name == "Int" || name == "String"
        return type(named: name) == nil || isBuiltIn ? name : "Swift.\(name)"
    }
}

/// The reserved words of Swift that are names in GraphQL, and the member names that need backticks.
private let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class",
    "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough",
    "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
    "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
]
