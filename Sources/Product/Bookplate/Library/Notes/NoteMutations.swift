import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Note {
    /// The maximum number of notes of one `createNotes`.
    static let batchMax = 100

    static let create = RowMutation(type) { arguments, request, note throws(BookplateError) in
        let input = try NoteInput(InputObject(arguments["input"]))
        let (results, problem) = try await request.write { pipeline, viewer in
            let problem = pipeline.append(Problem.create, Problem.parameters([input], viewer))
            note.append([input.id], to: &pipeline, for: viewer)
            return problem
        }
        if let error = results[problem].first?.error { throw error }
        return try note.only(results.last, orElse: .noSuchNote)
    }

    static let createMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let notes = try await Batch.entries(
            of: arguments, max: batchMax, in: request
        ) { input throws(BookplateError) in try NoteInput(input) }
        let valid = notes.compactMap { try? $0.get() }
        var errors: [BookplateError?] = []
        if !valid.isEmpty {
            let problems = try await request.write { pipeline, viewer in
                pipeline.append(Problem.create, Problem.parameters(valid, viewer))
            }
            errors = problems.map(\.error)
        }
        return Batch.results(notes, errors, in: request) { note in
            PlainObject(ids: ["note": [note.id]])
        }
    }

    static let createResultFields: [String: FieldResolver] = [
        "note": .load(RowsOfPlainObject(.one, type)),
        "error": .load(PlainObjectsField(.one)),
    ]

    static let update = RowMutation(type) { arguments, request, note throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchNote)
        let changes = try NoteInput.changes(InputObject(arguments["input"]))
        let (results, problem) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(jsonb: changes)
            let problem = pipeline.append(Problem.change, parameters)
            note.append([id], to: &pipeline, for: viewer)
            return problem
        }
        if let error = results[problem].first?.error { throw error }
        return try note.only(results.last, orElse: .noSuchNote)
    }

    /// Succeeds even if there is no such note, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchNote)
        let books = try await request.write { pipeline, viewer in
            pipeline.append(deleteNote, .of(viewer.userID, id))
        }
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["book": books.compactMap { $0.id }])
        ]
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "book": .load(RowsOfPlainObject(.one, Book.type)),
    ]

    /// The problem of a note, from `create_notes` or `change_note`.
    private struct Problem: RowDecodable {
        let error: BookplateError?

        init?(_ row: inout RowReader) {
            error =
                switch row.text() {
                case nil: nil
                case "BOOK": .notFound(.noSuchBook)
                case "NOTE": .notFound(.noSuchNote)
                case "EMPTY": NoteInput.noContent
                case "TAKEN": ChosenID.takenError
                case "DELETED": .notFound(.deleted)
                case "BOOK_FULL":
                    .badUserInput(
                        field: "bookId",
                        .init(.limitReached, max: ofBookMax))
                case "LIBRARY_FULL":
                    .badUserInput(
                        field: "bookId",
                        .init(.limitReached, max: ofLibraryMax))
                default: .internalError
                }
        }

        static let create = TypedStatement<Self>("SELECT problem FROM create_notes($1, $2)")
        static let change = TypedStatement<Self>("SELECT change_note($1, $2, $3)")

        static func parameters(_ notes: [NoteInput], _ viewer: Viewer) -> Parameters {
            var parameters = Parameters.of(viewer.userID)
            parameters.append(jsonb: .list(notes.map(\.json)))
            return parameters
        }
    }

    private static let deleteNote = TypedStatement<ParentOfDeleted>("SELECT delete_note($1, $2)")
}
