/// An error of a text, in a box: so what a production throws weighs one word, which it also returns faster when it does
/// not throw.
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
