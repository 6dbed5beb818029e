import GraphQL
import Postgres

extension Shelf {
    static let nameCharactersMax = 100
    /// Shelves are listed whole, so a library may have only so many.
    static let countMax = 500

    static let create = RowMutation(type) { arguments, request, shelf throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = try input.newID()
        let name = try TextInput.line(
            input.text("name") ?? "", field: "name", charactersMax: nameCharactersMax)
        let rows = try await request.write { segment, viewer in
            var parameters = Parameters()
            parameters.append(uuid: viewer.userID)
            parameters.append(uuid: id)
            parameters.append(text: name)
            segment.append(insert, parameters)
            segment.append(findByName, parameters)
            shelf.append([id], to: &segment, for: viewer)
        }
        if rows[2].count > 0 { return try shelf.only(rows[2], orElse: "") }
        if let other = rows[1].uuid(0, 0) {
            throw .conflict(
                "There is a shelf named “\(name)” already. Choose another name.",
                id: other.description, field: "name")
        }
        throw .badUserInput(
            field: "input", "A library has at most \(countMax) shelves. Delete one first.")
    }

    static let update = RowMutation(type) { arguments, request, shelf throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchShelf)
        let input = InputObject(arguments["input"])
        let name: String? =
            try input.isGiven("name")
            ? TextInput.line(
                input.text("name") ?? "", field: "name", charactersMax: nameCharactersMax) : nil
        let position = try input.isGiven("position") ? input.index("position") : nil
        var named = Parameters()
        let rows: [Rows]
        do throws(BookplateError) {
            rows = try await request.write { segment, viewer in
                named = .of(viewer.userID, id)
                named.append(text: name)
                if name != nil { segment.append(rename, named) }
                if let position {
                    var parameters = Parameters.of(viewer.userID, id)
                    parameters.append(int32: position)
                    segment.append(reposition, parameters)
                }
                shelf.append([id], to: &segment, for: viewer)
            }
        } catch .conflict(let message, id: nil, let field) {
            // Which shelf has the name is asked when it is known that one has.
            let other = try await request.read { segment, _ in segment.append(findByName, named) }[
                0]
            throw .conflict(message, id: other.uuid(0, 0)?.description, field: field)
        }
        return try shelf.only(rows[rows.count - 1], orElse: noSuchShelf)
    }

    /// Answers the id also when there is no such shelf, so that it can be sent again.
    static let delete = LeafMutation { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: noSuchShelf)
        let books = arguments["books"]?.string ?? "KEEP"
        var moveTo: UUID?
        if books == "MOVE" {
            moveTo = try arguments.id(
                "moveTo", else: "There is no such shelf to move the books to.")
            guard moveTo != id else {
                throw .badUserInput(field: "moveTo", "Books cannot move to the shelf that goes.")
            }
        }
        let rows = try await request.write { segment, viewer in
            switch books {
            case "MOVE":
                var parameters = Parameters.of(viewer.userID, id)
                parameters.append(uuid: moveTo)
                segment.append(moveBooks, parameters)
            case "DELETE":
                segment.append(deleteBooks, .of(viewer.userID, id))
                segment.appendRemovedCovers(of: viewer.userID)
            default:
                break
            }
            segment.append(deleteShelf, .of(viewer.userID, id))
            segment.append(closeGaps, .of(viewer.userID))
        }
        if books == "DELETE" {
            await request.removeCovers(rows[1])
            await request.removeTitleCards(of: rows[0])
        }
        return .string(id.description)
    }

    static let noSuchShelf = "There is no such shelf."

    // MARK: - Statements

    /// Does nothing where the id or the name is taken, or the library is full.
    private static let insert = Statement(
        """
        INSERT INTO shelves (user_id, id, name, position) \
        SELECT $1, $2, $3, coalesce(max(position) + 1, 0) FROM shelves WHERE user_id = $1 \
        HAVING count(*) < \(countMax) ON CONFLICT DO NOTHING
        """)

    private static let findByName = Statement(
        """
        SELECT id FROM shelves WHERE user_id = $1 AND lower(name) = lower($3) AND id <> $2
        """)

    private static let rename = Statement(
        """
        UPDATE shelves SET name = $3, updated_at = now() \
        WHERE user_id = $1 AND id = $2 AND name <> $3
        """)

    /// Puts one shelf at a position, or last, and the others in order around it.
    private static let reposition = Statement(
        """
        UPDATE shelves s SET position = n.position, updated_at = now() \
        FROM (SELECT id, \
        CASE WHEN id = $2 THEN least($3, others) ELSE place + (place >= $3)::int END AS position \
        FROM (SELECT id, (row_number() OVER (ORDER BY id = $2, position, id) - 1)::int AS place, \
        (count(*) OVER () - 1)::int AS others FROM shelves WHERE user_id = $1) numbered) n \
        WHERE s.user_id = $1 AND s.id = n.id AND s.position <> n.position \
        AND EXISTS (SELECT FROM shelves t WHERE t.user_id = $1 AND t.id = $2)
        """)

    private static let moveBooks = Statement(
        """
        INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at) \
        SELECT user_id, $3, book_id, added_at FROM shelf_books \
        WHERE user_id = $1 AND shelf_id = $2 ON CONFLICT DO NOTHING
        """)

    private static let deleteBooks = Statement(
        """
        DELETE FROM books b USING shelf_books sb \
        WHERE sb.user_id = $1 AND sb.shelf_id = $2 AND b.user_id = $1 AND b.id = sb.book_id \
        RETURNING b.id, b.title, b.author, b.genre
        """)

    private static let deleteShelf = Statement("DELETE FROM shelves WHERE user_id = $1 AND id = $2")

    private static let closeGaps = Statement(
        """
        UPDATE shelves s SET position = n.position, updated_at = now() \
        FROM (SELECT id, (row_number() OVER (ORDER BY position, id) - 1)::int AS position \
        FROM shelves WHERE user_id = $1) n \
        WHERE s.user_id = $1 AND s.id = n.id AND s.position <> n.position
        """)
}
