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
        case .invalidCursor:
            self = .badUserInput(
                field: "after",
                "This cursor does not belong to this list. Start again without a cursor.")
        case .invalidPageSize(let max):
            self = .badUserInput(
                field: "first", "The page size must be between 1 and \(max).")
        }
    }
}
