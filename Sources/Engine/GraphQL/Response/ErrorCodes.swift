extension GraphQLError {
    /// A kind of error that the engine reports: a fault of a request, or of the program that executes it. Clients see the code
    /// that the program has chosen for the kind with ``ErrorCodes``.
    public enum Kind: Sendable, CaseIterable {
        /// The document is not GraphQL.
        case invalidSyntax
        /// The document does not match the schema.
        case invalidDocument
        /// A variable or an argument has an invalid value, or the operation is unknown.
        case invalidInput
        /// The document exceeds a limit of ``ParseLimits``, ``OperationLimits``, or ``RequestLimits``.
        case limitExceeded
        /// The response exceeds ``RequestLimits/responseBytesMax``.
        case responseTooLarge
        /// A defect of the program.
        case internalError
    }
}

/// The codes that clients get for the errors of the engine: the member `code` of their `extensions`, and further members. The
/// specification defines none, so the program chooses them. Errors of resolvers keep the codes that resolvers give them.
///
/// ```swift
/// let codes = ErrorCodes { kind in "\(kind)" }  // such as `invalidSyntax`
/// ```
public struct ErrorCodes: Sendable {
    private let code: @Sendable (GraphQLError.Kind) -> String?
    private let more: @Sendable (GraphQLError.Kind) -> [Value.Member]

    /// Creates the codes. Errors have no code if `code` returns nil for their kind.
    public init(_ code: @escaping @Sendable (GraphQLError.Kind) -> String?) {
        self.code = code
        more = { _ in [] }
    }

    private init(
        _ code: @escaping @Sendable (GraphQLError.Kind) -> String?,
        _ more: @escaping @Sendable (GraphQLError.Kind) -> [Value.Member]
    ) {
        self.code = code
        self.more = more
    }

    /// Returns the same codes. Errors that get one also get the members that `more` returns for their kind.
    public func with(
        _ more: @escaping @Sendable (GraphQLError.Kind) -> [Value.Member]
    ) -> ErrorCodes { ErrorCodes(code, more) }

    /// Errors have no codes.
    public static let none = ErrorCodes { _ in nil }

    /// Returns the code of a kind of errors.
    public subscript(kind: GraphQLError.Kind) -> String? { code(kind) }

    fileprivate func members(_ kind: GraphQLError.Kind) -> [Value.Member]? {
        code(kind).map { [.init("code", .string($0))] + more(kind) }
    }
}

extension GraphQLError {
    /// Returns the error with the code of its kind in front of its other extensions. An error without a kind, or with a
    /// code, stays as it is.
    public func coded(by codes: ErrorCodes) -> GraphQLError {
        guard let kind, code == nil, let members = codes.members(kind) else { return self }
        var error = self
        error.extensions.insert(contentsOf: members, at: 0)
        return error
    }
}

extension RequestErrors {
    /// Returns the errors with the codes of their kinds.
    public func coded(by codes: ErrorCodes) -> RequestErrors {
        RequestErrors(errors.map { $0.coded(by: codes) })
    }
}
