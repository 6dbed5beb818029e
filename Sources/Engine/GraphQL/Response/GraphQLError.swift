/// An entry of `errors` in a response.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Errors
public struct GraphQLError: Error, Sendable, Equatable {
    /// A complete sentence for people.
    public var message: String
    /// The positions in the document; empty if there are none.
    public var locations: [SourceLocation]
    /// The response keys and list indices from the root to the field; nil for request errors.
    public var path: [PathElement]?
    /// What is wrong. It is not part of the response.
    ///
    /// Nil for an error that a resolver or a service reports in its own words, and for an error about a value that a resolver
    /// returned: null for a non-null field, or a value that its enum or scalar cannot represent.
    public var kind: Kind?
    /// The members of `extensions`, in order. By convention, `code` is first.
    public var extensions: [Value.Member]

    /// A step from the root of the response to a field.
    public enum PathElement: Sendable, Equatable {
        /// The response key of a field.
        case key(String)
        /// The index of a list item, starting at 0.
        case index(Int)
    }

    /// Creates an error.
    ///
    /// A message with a `kind` may quote names and values of the request. If it is longer than 1,500 bytes, its middle is left out.
    public init(
        _ message: String, locations: [SourceLocation] = [], path: [PathElement]? = nil,
        kind: Kind? = nil, extensions: [Value.Member] = []
    ) {
        self.message = kind == nil ? message : shortenedMessage(message)
        self.locations = locations
        self.path = path
        self.kind = kind
        self.extensions = extensions
    }

    /// The value of `extensions.code`, if there is one.
    public var code: String? { extensions.first { $0.name == "code" }?.value.string }
}

/// One or more errors that prevent a request from being executed.
public struct RequestErrors: Error, Sendable, Equatable {
    /// The errors. There is at least one.
    public var errors: [GraphQLError]

    /// Creates the reason why a request is not executed.
    public init(_ errors: [GraphQLError]) { self.errors = errors }
}

extension RequestErrors: CustomStringConvertible, CustomDebugStringConvertible {
    /// The messages, one per line, each after the line and the column in the document: `2:10: Unknown type "Autor".`
    public var description: String {
        errors.map { error in
            let positions = error.locations.map { "\($0.line):\($0.column)" }
                .joined(separator: ", ")
            return positions.isEmpty ? error.message : "\(positions): \(error.message)"
        }.joined(separator: "\n")
    }
    /// The description, which a program prints that ends with this error.
    public var debugDescription: String { description }
}
