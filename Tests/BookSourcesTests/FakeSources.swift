import FoundationEssentials
import HTTPFetch
import LoopbackHTTP
import Synchronization

@testable import BookSources

/// The outside services, played over real HTTP with their recorded answers.
final class FakeSources: Sendable {
    let openLibrary: LoopbackServer
    let google: LoopbackServer
    let sources: SourceChain

    /// - Parameters: what each answers to a request's target; nil is its 404.
    init(
        openLibrary: @escaping @Sendable (String) -> [Step]?,
        google: @escaping @Sendable (String) -> [Step]? = { _ in
            [.answer(recorded("google-volumes-zero"))]
        }
    ) throws {
        let library = try LoopbackServer { request in
            openLibrary(request.target) ?? [Self.notFound]
        }
        let volumes = try LoopbackServer { request in
            google(request.target) ?? [.answer(404, "{}")]
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

    /// As the site answers: HTML, although JSON was asked for.
    static let notFound = http("reconstructed-isbn-not-found")

    /// The record at each path, as the site has them, the ISBN by its redirect.
    static func fantasticFox(_ target: String) -> [Step]? {
        switch target {
        case "/isbn/9780140328721.json":
            [
                .answer(
                    302, headers: ["Location: https://openlibrary.org/books/OL7353617M.json"])
            ]
        case "/books/OL7353617M.json": [.answer(recorded("isbn-9780140328721.edition"))]
        case "/works/OL45804W.json": [.answer(recorded("works-OL45804W"))]
        case "/authors/OL34184A.json": [.answer(recorded("authors-OL34184A"))]
        default: nil
        }
    }

    static let fox = BookNumber(isbn13: "9780140328721", isbn10: "0140328726")
}

/// The text of a recorded body.
func recorded(_ name: String) -> String {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        .joined(separator: "/")
    // A test without its fixture is to fail by what it expects.
    return (try? String(contentsOfFile: "\(folder)/Fixtures/\(name).json", encoding: .utf8)) ?? ""
}

/// A recorded answer with its status and body.
func http(_ name: String, headers: [String] = []) -> Step {
    let response = JSON(Array(recorded(name + ".http").utf8))?["response"]
    return .answer(
        response?["status"]?.int ?? 500, headers: headers, response?["body"]?.text ?? "{}")
}

extension Step {
    static func answer(_ body: String) -> Step { .answer(200, body) }
}

/// For what asks nobody.
let unreachable = Fetcher(policy: FetchPolicy(userAgent: "bookplate-test"))
