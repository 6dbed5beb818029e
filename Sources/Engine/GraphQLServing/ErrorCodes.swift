import GraphQL

extension ErrorCodes {
    /// The codes of Apollo's servers, which clients know, and `OPERATION_TOO_COMPLEX` and `RESPONSE_TOO_LARGE` for the limits
    /// that they do not have.
    public static let apollo = ErrorCodes { kind in
        switch kind {
        case .invalidSyntax: "GRAPHQL_PARSE_FAILED"
        case .invalidDocument: "GRAPHQL_VALIDATION_FAILED"
        case .invalidInput: "BAD_USER_INPUT"
        case .limitExceeded: "OPERATION_TOO_COMPLEX"
        case .responseTooLarge: "RESPONSE_TOO_LARGE"
        case .internalError: "INTERNAL_SERVER_ERROR"
        }
    }
}
