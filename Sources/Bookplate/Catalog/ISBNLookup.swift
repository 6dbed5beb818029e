import GraphQL
import Postgres

/// `Query.lookupISBN`: the catalogue's edition, or else one that the outside sources know, which is then
/// the catalogue's.
struct ISBNLookup: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        let type = FeedCard.type
        var columns = ColumnSet()
        let layout = RowLayout(field.selections[0], of: type, columns: &columns)
        // The caller is $1 in every type's columns.
        let byISBN = Statement(
            "SELECT \(columns.sql) FROM \(type.table) WHERE \(type.scope) AND e.isbn13 = $2")
        return PreparedCall { arguments, request throws(BookplateError) in
            guard let isbn = try ISBN.optional(arguments["isbn"]?.string) else {
                throw .badUserInput(field: "isbn", ISBN.Problem.length.message)
            }
            func edition() async throws(BookplateError) -> Children? {
                let rows = try await request.read { segment, viewer in
                    var parameters = Parameters.of(viewer.userID)
                    parameters.append(text: isbn.description)
                    segment.append(byISBN, parameters)
                }[0]
                guard rows.count > 0 else { return nil }
                return Children(
                    slots: [.object(group: 0, index: 0)], groups: [.init(RowBatch(rows, layout))])
            }
            if let edition = try await edition() { return edition }
            let unavailable = try await OutsideEditions.fetch([isbn], for: request)
            guard unavailable.isEmpty else {
                throw .upstreamUnavailable(OutsideEditions.unavailable)
            }
            return try await edition() ?? .null(1)
        }
    }
}
