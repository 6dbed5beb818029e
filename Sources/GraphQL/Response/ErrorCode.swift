/// The codes of the engine's errors: the member `code` of their `extensions`. The specification defines none. These are the
/// ones that Apollo's clients and servers know, and some more.
public enum ErrorCode: String, Sendable, CaseIterable {
    /// The document is not GraphQL.
    case parseFailed = "GRAPHQL_PARSE_FAILED"
    /// The document does not match the schema.
    case validationFailed = "GRAPHQL_VALIDATION_FAILED"
    /// A variable or an argument has an invalid value, or the operation is unknown.
    case badUserInput = "BAD_USER_INPUT"
    /// The document exceeds a limit of ``ParseLimits``, ``OperationLimits``, or ``RequestLimits``.
    case operationTooComplex = "OPERATION_TOO_COMPLEX"
    /// The response exceeds ``RequestLimits/responseBytesMax``.
    case responseTooLarge = "RESPONSE_TOO_LARGE"
    /// A defect of the program.
    case internalError = "INTERNAL_SERVER_ERROR"

    /// The member for `extensions`.
    public var member: Value.Member { Value.Member("code", .string(rawValue)) }
}
