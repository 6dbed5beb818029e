/// The ids that clients choose for new objects. An id identifies one object of any type, because `Query.node` finds objects
/// by their ids alone.
package enum ChosenID {
    /// The error for an id that identifies another object.
    package static let takenError = BookplateError.conflict(
        .init(.idTaken), field: "id")

    /// Returns the SQL condition that an id, `$2` by default, is that of the user `$1`, of a card, or of a row of the user in one
    /// of the tables.
    package static func isTaken(_ id: String = "$2", in tables: [String]) -> String {
        let rows = tables.map { "EXISTS (SELECT FROM \($0) WHERE user_id = $1 AND id = \(id))" }
        return (["$1 = \(id)", "EXISTS (SELECT FROM editions WHERE id = \(id))"] + rows)
            .joined(separator: " OR ")
    }
}
