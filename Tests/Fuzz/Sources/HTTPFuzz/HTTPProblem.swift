/// The cases of the server's `HTTPProblem` that its readers throw.
enum HTTPProblem: Error, Equatable {
    case badRequest(String)
    case uriTooLong(bytesMax: Int)
    case headersTooLarge
    case unsupportedVersion
}
