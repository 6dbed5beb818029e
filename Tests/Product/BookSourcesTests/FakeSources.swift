import FoundationEssentials
import HTTPFetch
import LoopbackHTTP
import Synchronization

@testable import BookSources

/// Local HTTP servers that return recorded responses of the external services.
final class FakeSources: Sendable {
    let openLibrary: LoopbackServer
    let google: LoopbackServer
    let sources: SourceChain

    /// - Parameters:
    ///   - openLibrary: Returns the response of Open Library to a request target. nil means its response with status 404.
    ///   - google: Returns the response of Google Books. By default it finds nothing.
    init(
        openLibrary: @escaping @Sendable (String) -> [Step]?,
        google: @escaping @Sendable (String) -> [Step]? = { _ in
            [.response(recorded("google-volumes-zero"))]
        }
    ) throws {
        let library = try LoopbackServer { request in
            openLibrary(request.target) ?? [Self.notFound]
        }
        let volumes = try LoopbackServer { request in
            google(request.target) ?? [.response(404, "{}")]
        }
        self.openLibrary = library
        self.google = volumes
        var configuration = SourceChain.Configuration()
        configuration.openLibraryURL = library.url("")
        configuration.openLibraryCoversURL = "https://covers.example"
        configuration.googleBooksURL = volumes.url("/books/v1")
        configuration.googleBooksKey = "secret key"
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "bookplate-test (ops@example.com)",
                allowed: try FetchAllowList(parsing: "127.0.0.1")))
        let box = FailureBox()
        failures = box
        sources = SourceChain(configuration, fetcher: fetcher) { box.add($0, $1) }
    }

    let failures: FailureBox

    final class FailureBox: Sendable {
        private let list = Mutex<[SourceError]>([])
        func add(_ source: SourceName, _ error: SourceError) { list.withLock { $0.append(error) } }
        var all: [SourceError] { list.withLock { $0 } }
    }

    /// Open Library's response for unknown ISBNs. It is HTML although JSON was requested.
    static let notFound = http("reconstructed-isbn-not-found")

    /// The records of a book at Open Library's paths. The path of the ISBN redirects to the edition.
    static func fantasticFox(_ target: String) -> [Step]? {
        switch target {
        case "/isbn/9780140328721.json":
            [
                .response(
                    302, headers: ["Location: https://openlibrary.org/books/OL7353617M.json"])
            ]
        case "/books/OL7353617M.json": [.response(recorded("isbn-9780140328721.edition"))]
        case "/works/OL45804W.json": [.response(recorded("works-OL45804W"))]
        case "/authors/OL34184A.json": [.response(recorded("authors-OL34184A"))]
        default: nil
        }
    }

    static let fox = BookNumber(isbn13: "9780140328721", isbn10: "0140328726")
}

/// Returns the text of a recorded body.
func recorded(_ name: String) -> String {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        .joined(separator: "/")
    // If the fixture is missing, the expectations of the test fail.
    return (try? String(contentsOfFile: "\(folder)/Fixtures/\(name).json", encoding: .utf8)) ?? ""
}

/// Returns a recorded response with its status and body.
func http(_ name: String, headers: [String] = []) -> Step {
    let response = JSON(Array(recorded(name + ".http").utf8))?["response"]
    return .response(
        response?["status"]?.int ?? 500, headers: headers, response?["body"]?.text ?? "{}")
}

extension Step {
    static func response(_ body: String) -> Step { .response(200, body) }
}

/// A fetcher for tests that send no requests.
let unreachable = Fetcher(policy: FetchPolicy(userAgent: "bookplate-test"))
