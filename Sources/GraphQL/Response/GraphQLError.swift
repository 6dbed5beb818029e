/// An entry of `errors` in a response.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Errors
public struct GraphQLError: Error, Sendable, Equatable {
    /// A complete sentence for people.
    public var message: String
    public var locations: [SourceLocation]
    /// The response keys and list indices from the root to the field; nil for request errors.
    public var path: [PathElement]?
    /// The members of `extensions`, in order. By convention, `code` is first.
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

    /// The value of `extensions.code`, if there is one.
    public var code: String? { extensions.first { $0.name == "code" }?.value.string }
}

/// One or more errors that prevent a request from being executed.
public struct RequestErrors: Error, Sendable, Equatable {
    public var errors: [GraphQLError]

    public init(_ errors: [GraphQLError]) { self.errors = errors }
}
