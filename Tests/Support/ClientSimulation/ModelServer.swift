import Foundation

@testable import BookplateClient

/// A fast model of the server for one reader: the library, the change log, and sessions.
///
/// It has the rules of the server, written independently of the client's. `ClientJourneyTests` compares the client's rules with
/// the real server.
class ModelServer {
    var shelves: [Shelf] = []
    var books: [String: Book] = [:]
    var reads: [String: Read] = [:]
    var entries: [String: ProgressEntry] = [:]
    var notes: [String: Note] = [:]
    var goals: [String: ReadingGoal] = [:]
    /// Deleted reads, entries, and notes, whose ids cannot be used again.
    var tombstones: Set<String> = []
    /// The title of books that cannot be created.
    var refusedTitle: String?
    /// The numbers that no source knows.
    var unknownISBNs: Set<String> = []
    /// The ids of all objects that were ever created, with how often.
    var creations: [String: Int] = [:]
    private(set) var log: [(typename: String, id: String)] = []
    /// The number of entries at the beginning of the log that were deleted.
    private(set) var prunedCount = 0
    private let clock: SimulatedClock
    var sessions = ModelSessions()
    var feed = ModelFeed()

    init(_ clock: SimulatedClock) { self.clock = clock }

    var now: Timestamp { Timestamp(clock.now) }

    func record<Object: LibraryObject>(_ type: Object.Type, _ id: String) {
        log.append((type.typename, id))
    }

    /// Deletes all entries of the log, as after 90 days.
    func prune() { prunedCount = log.count }

    var snapshot: LibrarySnapshot {
        get throws {
            LibrarySnapshot(
                shelves: shelves, books: Array(books.values), reads: Array(reads.values),
                entries: Array(entries.values), notes: Array(notes.values),
                goals: Array(goals.values))
        }
    }

    // MARK: Requests

    func respond(to request: SyncRequest) -> HTTPResponse {
        do throws(ServerError) {
            let data = try data(for: request)
            return HTTPResponse(status: 200, body: Data(#"{"data":\#(data)}"#.utf8))
        } catch {
            return Self.response(error)
        }
    }

    static func response(_ error: ServerError) -> HTTPResponse {
        var extensions: [String: JSON] = ["code": .string(error.code.rawValue)]
        extensions["id"] = error.existingID.map(JSON.string)
        extensions["reason"] = error.reason.map { .string($0.rawValue) }
        extensions["retryAfter"] = error.retryAfter.map(JSON.number)
        let errors: JSON = [
            ["message": .string(error.message), "extensions": .object(extensions)]
        ]
        return HTTPResponse(status: 200, body: Data(#"{"errors":\#(text(errors))}"#.utf8))
    }

    /// Returns the data of a response as JSON text.
    private func data(for request: SyncRequest) throws(ServerError) -> String {
        let document = request.document
        let after = request.variables["after"]?.string
        if document.hasPrefix("mutation") {
            guard let operation = operation(of: document) else {
                throw ServerError("Unknown mutation", code: .badUserInput)
            }
            if operation == .recordSwipes {
                if let error = feed.error { throw error }
                let result = recordSwipe(request.variables["input"]?.array.first ?? [:])
                return #"{"recordSwipes":\#(Self.text(result))}"#
            }
            let error = try run(operation, request.variables)
            guard operation == .logProgress else { return #"{"\#(operation)":{"id":"x"}}"# }
            return #"{"logProgress":[{"error":\#(error.map(Self.inputError) ?? "null")}]}"#
        }
        if document.contains("feed(") { return #"{"feed":\#(feedPage(request.variables))}"# }
        if document.contains("changes(") { return #"{"changes":\#(changes(after: after))}"# }
        if document.contains("books(") { return me("books", page(sortedBooks, after, size: 10)) }
        if document.contains("reads(") { return me("reads", readPage(after)) }
        if document.contains("notes(") {
            return me("notes", page(notes.values.sorted { $0.id < $1.id }, after, size: 10))
        }
        if document.contains("node(") {
            let entries = page(entries(of: request.variables["id"]?.string ?? ""), after, size: 2)
            return #"{"node":{"progressEntries":\#(entries)}}"#
        }
        let goals = Array(goals.values)
        return #"{"me":{"shelves":\#(Self.text(shelves)),"readingGoals":\#(Self.text(goals))}}"#
    }

    private func operation(of document: String) -> BookplateClient.Operation? {
        BookplateClient.Operation.allCases.first { document.contains("{ \($0.rawValue)(") }
    }

    private func me(_ field: String, _ value: String) -> String {
        #"{"me":{"\#(field)":\#(value)}}"#
    }

    private static func inputError(_ error: ServerError) -> String {
        text(["message": .string(error.message), "code": .string(error.code.rawValue)] as JSON)
    }

    static func text(_ value: some Encodable) -> String {
        (try? JSON.text(value)) ?? "null"
    }

    // MARK: Pages

    private func changes(after: String?) -> String {
        let start = after.flatMap(Int.init) ?? 0
        let isTooOld = start < prunedCount
        let slice = isTooOld ? [] : Array(log[min(start, log.count)...].prefix(10))
        let end = isTooOld ? log.count : min(start, log.count) + slice.count
        let changes = slice.map { entry in
            let node = node(entry.typename, entry.id)
            return #"{"typename":"\#(entry.typename)","nodeId":"\#(entry.id)","node":\#(node)}"#
        }
        return """
            {"changes":[\(changes.joined(separator: ","))],"resetRequired":\(isTooOld),\
            "pageInfo":{"endCursor":"\(end)","hasNextPage":\(end < log.count)}}
            """
    }

    private func node(_ typename: String, _ id: String) -> String {
        switch typename {
        case Shelf.typename: Self.text(shelves.first { $0.id == id })
        case Book.typename: Self.text(books[id])
        case Read.typename: Self.text(reads[id])
        case ProgressEntry.typename: Self.text(entries[id])
        case Note.typename: Self.text(notes[id])
        default: Self.text(goals[id])
        }
    }

    private var sortedBooks: [Book] { books.values.sorted { $0.id < $1.id } }

    func entries(of read: String) -> [ProgressEntry] {
        entries.values.filter { $0.read.id == read }.sorted { ($0.at, $0.id) > ($1.at, $1.id) }
    }

    private func page<Node: LibraryObject>(
        _ nodes: [Node], _ after: String?, size: Int,
        text: (Node) -> String = { ModelServer.text($0) }
    ) -> String {
        let start = nodes.firstIndex { $0.id == after }.map { $0 + 1 } ?? 0
        let slice = nodes[start...].prefix(size)
        let end = slice.last.map { #""\#($0.id)""# } ?? "null"
        return """
            {"nodes":[\(slice.map(text).joined(separator: ","))],\
            "pageInfo":{"endCursor":\(end),"hasNextPage":\(slice.endIndex < nodes.count)}}
            """
    }

    private func readPage(_ after: String?) -> String {
        page(reads.values.sorted { $0.id < $1.id }, after, size: 8) { read in
            let entries = page(entries(of: read.id), nil, size: 2)
            return Self.text(read).dropLast() + #","progressEntries":\#(entries)}"#
        }
    }
}

/// The sessions of the model: a refresh token is valid once, and for a minute more.
struct ModelSessions {
    private struct Session {
        var tokens: StoredSession.Tokens
        var previousRefreshToken: String?
        var refreshedAt: Date
    }

    private var sessions: [Int: Session] = [:]
    private var count = 0

    mutating func signIn(_ device: Int, _ now: Date) -> StoredSession.Tokens {
        let tokens = newTokens(now)
        sessions[device] = Session(tokens: tokens, refreshedAt: now)
        return tokens
    }

    mutating func revoke(_ device: Int) { sessions[device] = nil }

    func accepts(_ accessToken: String, _ now: Date) -> Bool {
        sessions.values.contains {
            $0.tokens.accessToken == accessToken
                && ($0.tokens.accessTokenExpiresAt.date ?? .distantPast) > now
        }
    }

    /// Returns new tokens. Nil if the session has ended.
    mutating func refresh(_ refreshToken: String, _ now: Date) -> StoredSession.Tokens? {
        for (device, session) in sessions {
            if session.tokens.refreshToken == refreshToken {
                let tokens = newTokens(now)
                sessions[device] = Session(
                    tokens: tokens, previousRefreshToken: refreshToken, refreshedAt: now)
                return tokens
            }
            if session.previousRefreshToken == refreshToken {
                if now.timeIntervalSince(session.refreshedAt) < 60 { return session.tokens }
                sessions[device] = nil
            }
        }
        return nil
    }

    private mutating func newTokens(_ now: Date) -> StoredSession.Tokens {
        count += 1
        return StoredSession.Tokens(
            accessToken: "access-\(count)",
            accessTokenExpiresAt: Timestamp(now.addingTimeInterval(900)),
            refreshToken: "refresh-\(count)")
    }
}
