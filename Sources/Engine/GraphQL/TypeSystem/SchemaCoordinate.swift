/// A human-readable identifier of one element of a schema.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema-Coordinates
package enum SchemaCoordinate: Hashable, Sendable, CustomStringConvertible {
    /// `Book`
    case type(String)
    /// `Book.title`: a field, an input field or an enum value.
    case member(type: String, String)
    /// `Query.book(id:)`
    case argument(type: String, field: String, String)
    /// `@deprecated`
    case directive(String)
    /// `@deprecated(reason:)`
    case directiveArgument(directive: String, String)

    /// Parses a coordinate. Returns nil if the text is not a valid coordinate. White space is not
    /// allowed.
    ///
    /// SchemaCoordinate ::
    ///     Name | Name . Name | Name . Name ( Name : ) | @ Name | @ Name ( Name : )
    package init?(_ text: String) {
        var rest = text.utf8[...]
        let isDirective = Self.take("@", from: &rest)
        guard let name = Self.takeName(from: &rest) else { return nil }
        if isDirective {
            if rest.isEmpty {
                self = .directive(name)
            } else {
                guard let argument = Self.takeArgument(from: &rest) else { return nil }
                self = .directiveArgument(directive: name, argument)
            }
            return
        }
        if rest.isEmpty {
            self = .type(name)
            return
        }
        guard Self.take(".", from: &rest), let member = Self.takeName(from: &rest) else {
            return nil
        }
        if rest.isEmpty {
            self = .member(type: name, member)
        } else {
            guard let argument = Self.takeArgument(from: &rest) else { return nil }
            self = .argument(type: name, field: member, argument)
        }
    }

    package var description: String {
        switch self {
        case .type(let name): name
        case .member(let type, let name): "\(type).\(name)"
        case .argument(let type, let field, let name): "\(type).\(field)(\(name):)"
        case .directive(let name): "@\(name)"
        case .directiveArgument(let directive, let name): "@\(directive)(\(name):)"
        }
    }

    // MARK: - Reading

    private static func take(_ text: String, from rest: inout Substring.UTF8View) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest.removeFirst(text.utf8.count)
        return true
    }

    private static func takeName(from rest: inout Substring.UTF8View) -> String? {
        let name = rest.prefix(while: isNameContinue)
        guard let first = name.first, !isDigit(first) else { return nil }
        rest.removeFirst(name.count)
        return String(Substring(name))
    }

    /// Parses `(name:)`, which must be at the end of the text.
    private static func takeArgument(from rest: inout Substring.UTF8View) -> String? {
        guard take("(", from: &rest), let name = takeName(from: &rest), take(":)", from: &rest),
            rest.isEmpty
        else { return nil }
        return name
    }

    private static func isNameContinue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"):
            true
        default: isDigit(byte)
        }
    }
}

/// The element of a schema that a coordinate identifies.
package enum SchemaElement: Sendable {
    case type(TypeDefinition)
    case field(FieldDefinition)
    case inputField(InputValueDefinition)
    case enumValue(EnumValueDefinition)
    case argument(InputValueDefinition)
    case directive(DirectiveDefinition)
}

extension Schema {
    /// Returns the element that a coordinate identifies, or nil if the schema does not contain it.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Schema-Coordinates.Resolving-a-Schema-Coordinate
    package func element(at coordinate: SchemaCoordinate) -> SchemaElement? {
        switch coordinate {
        case .type(let name):
            return type(named: name).map { .type($0) }
        case .member(let typeName, let name):
            guard let type = type(named: typeName) else { return nil }
            switch type.kind {
            case .object(let body), .interface(let body):
                return body.field(named: name).map { .field($0) }
            case .inputObject(let body):
                return body.field(named: name).map { .inputField($0) }
            case .enumeration(let values):
                return values.first { $0.name == name }.map { .enumValue($0) }
            case .scalar, .union:
                return nil
            }
        case .argument(let typeName, let field, let name):
            return type(named: typeName)?.field(named: field)?.argument(named: name)
                .map { .argument($0) }
        case .directive(let name):
            return directive(named: name).map { .directive($0) }
        case .directiveArgument(let directiveName, let name):
            return directive(named: directiveName)?.arguments.first { $0.name == name }
                .map { .argument($0) }
        }
    }
}
