/// A `GraphQLError` in a box. The error type that productions throw is one word in size, which
/// makes returning without an error faster.
indirect enum SyntaxFailure: Error {
    case failed(GraphQLError)

    @inline(never)
    init(_ error: GraphQLError) { self = .failed(error) }

    var error: GraphQLError {
        switch self {
        case .failed(let error): error
        }
    }
}
