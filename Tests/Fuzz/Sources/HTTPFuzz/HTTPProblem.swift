/// What the readers refuse; the server's own has more cases, which are nothing to them.
enum HTTPProblem: Error, Equatable {
    case badRequest(String)
    case headersTooLarge
}
