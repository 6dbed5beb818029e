/// An error of the response's `errors` list.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Errors
public struct GraphQLError: Error, Sendable, Equatable {
    /// A sentence for a person.
    public var message: String
    public var locations: [SourceLocation]
    /// Response keys and list indices from the root; nil for request errors.
    public var path: [PathElement]?
    /// Members of `extensions`, in order; `code` first by custom.
    public var extensions: [Value.Member]

    public enum PathElement: Sendable, Equatable {
        case key(String)
        case index(Int)
    }

    public init(
        _ message: String, locations: [SourceLocation] = [], path: [PathElement]? = nil,
        extensions: [Value.Member] = []
    ) {
        self.message = message
        self.locations = locations
        self.path = path
        self.extensions = extensions
    }

    /// `extensions.code`, where there is one.
    public var code: String? { extensions.first { $0.name == "code" }?.value.string }
}

/// One or more errors that stop a request before it is executed.
public struct RequestErrors: Error, Sendable, Equatable {
    public var errors: [GraphQLError]

    public init(_ errors: [GraphQLError]) { self.errors = errors }
}
