import Basics
import GraphQL
import GraphQLPostgres

extension ArgumentValues {
    /// Returns the argument `first`.
    ///
    /// - Throws: `.badUserInput` unless it is between 1 and `PageSize.max`.
    package func pageSize(default: Int = 20) throws(BookplateError) -> Int {
        try mappingError(BookplateError.init) { () throws(RowError) in
            try PageSize(self, default: `default`).first
        }
    }
}

extension BookplateError {
    init(_ error: RowError) {
        switch error {
        case .unexpectedParents: self = .internalError
        case .invalidCursor(let argument):
            self = .badUserInput(
                field: argument, .init(.invalidCursor))
        case .cursorOfOtherOrder(let argument):
            self = .badUserInput(
                field: argument,
                .init(
                    .invalidCursor,
                    detail:
                        "This cursor belongs to another order. Send the same `orderBy` as for its page, or start again without a cursor."
                ))
        case .cursorOfOtherFilters(let argument):
            self = .badUserInput(
                field: argument,
                .init(
                    .invalidCursor,
                    detail:
                        "This cursor belongs to a list with other filters. Send the same filters as for its page, or start again without a cursor."
                ))
        case .invalidPageSize(let argument, let max):
            self = .badUserInput(
                field: argument, .init(.outOfRange, min: 1, max: max))
        case .mixedDirections:
            self = .badUserInput(
                field: "after",
                .init(
                    .conflictingFields, value: "`after`, `before`",
                    detail:
                        "`after` does not go with `last` and `before`. Send `first` and `after`, or `last` and `before`."
                ))
        }
    }
}
