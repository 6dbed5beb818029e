/// The errors of the request readers. The server's type of the same name has more cases, which the
/// readers do not use.
enum HTTPProblem: Error, Equatable {
    case badRequest(String)
    case uriTooLong(bytesMax: Int)
    case headersTooLarge
    case unsupportedVersion
}
