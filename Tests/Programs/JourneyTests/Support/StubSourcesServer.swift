import FoundationEssentials
import LoopbackHTTP
import TestSupport

/// A local HTTP server in place of Open Library and Google Books, with their recorded responses.
///
/// Every ISBN of `titles` has an edition record: the record of one book in which the ISBN and the title are replaced.
/// Records and covers are reached through redirects, as on the real site. The cover is a real photograph; other ISBNs have none.
final class StubSourcesServer: Sendable {
    let server: LoopbackServer

    /// - Parameter titles: the titles by ISBN-13.
    init(_ titles: [String: String]) throws {
        let editions = Dictionary(
            uniqueKeysWithValues: titles.keys.sorted().enumerated().map { ("\($0)", $1) })
        let keys = Dictionary(uniqueKeysWithValues: editions.map { ($1, $0) })
        let recorded = try Self.recordings()
        let cover = try Array(
            Data(
                contentsOf: URL(
                    filePath: TestCluster.project
                        + "/Tests/Libraries/ImageProcessingTests/Fixtures/cover-dracula.jpg")
            ))
        server = try LoopbackServer { request in
            let target = request.target
            func between(_ prefix: String, _ suffix: String) -> String? {
                guard target.hasPrefix(prefix), target.hasSuffix(suffix) else { return nil }
                return String(target.dropFirst(prefix.count).dropLast(suffix.count))
            }
            if let isbn = between("/isbn/", ".json"), let key = keys[isbn] {
                let location = "https://openlibrary.org/books/OL\(key)M.json"
                return [.response(302, headers: ["Location: \(location)"])]
            }
            if let key = between("/books/OL", "M.json"), let isbn = editions[key] {
                let record = recorded.edition
                    .replacing("Fantastic Mr. Fox", with: titles[isbn] ?? "")
                    .replacing("9780140328721", with: isbn)
                    .replacing("0140328726", with: "")
                return [.response(200, record)]
            }
            if target == "/works/OL45804W.json" { return [.response(200, recorded.work)] }
            if target == "/authors/OL34184A.json" { return [.response(200, recorded.author)] }
            if target.hasPrefix("/search.json") { return [.response(200, recorded.search)] }
            if target.hasPrefix("/b/id/") || target.hasPrefix("/b/isbn/") {
                let name = target.split(separator: "/")[2].prefix { $0 != "-" }
                guard target.hasPrefix("/b/id/") || keys[String(name)] != nil else {
                    return [.response(404, "not found")]
                }
                return [.response(302, headers: ["Location: /archive/\(name).jpg"])]
            }
            if target.hasPrefix("/archive/") {
                return [
                    .send(
                        """
                        HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: \(cover.count)\r\n\
                        Connection: close\r\n\r\n
                        """), .bytes(cover),
                ]
            }
            if target.hasPrefix("/books/v1/volumes") { return [.response(200, recorded.noVolumes)] }
            return [.response(404, "not found")]
        }
    }

    /// The settings of a server or command that uses this server as its sources.
    var environment: [String: String?] {
        [
            "BOOKPLATE_OPEN_LIBRARY_URL": server.url(""),
            "BOOKPLATE_OPEN_LIBRARY_COVERS_URL": server.url(""),
            "BOOKPLATE_GOOGLE_BOOKS_URL": server.url("/books/v1"),
            "BOOKPLATE_CONTACT": "operator@example.com",
        ]
    }

    private struct Recordings {
        let edition, work, author, search, noVolumes: String
    }

    private static func recordings() throws -> Recordings {
        func text(_ name: String) throws -> String {
            try String(
                contentsOfFile:
                    "\(TestCluster.project)/Tests/Product/BookSourcesTests/Fixtures/\(name).json",
                encoding: .utf8)
        }
        return Recordings(
            edition: try text("isbn-9780140328721.edition"), work: try text("works-OL45804W"),
            author: try text("authors-OL34184A"), search: try text("search-2020-two-docs"),
            noVolumes: try text("google-volumes-zero"))
    }
}
