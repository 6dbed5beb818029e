import Foundation

/// The queries that fetch the library.
enum SyncDocuments {
    static let changes = """
        query ($after: String) {
          changes(after: $after, first: 200) {
            changes { typename nodeId node { \(fragments) } }
            pageInfo { endCursor hasNextPage }
            resetRequired
          }
        }
        """

    private static let fragments = libraryTypes.map { "... on \($0.typename) { \($0.selection) }" }
        .joined(separator: " ")

    private static let page = "pageInfo { endCursor hasNextPage }"

    static let feed = """
        query ($first: Int!, $after: String, $genres: [String!]) {
          feed(first: $first, after: $after, genres: $genres) { nodes { \(FeedCard.selection) } \(page) }
        }
        """

    static func document(of stage: SyncPosition.Stage) -> String {
        switch stage {
        case .shelves:
            "{ me { shelves { \(Shelf.selection) } readingGoals { \(ReadingGoal.selection) } } }"
        case .books:
            """
            query ($after: String) {
              me { books(first: 100, after: $after, orderBy: ADDED_ASC) { nodes { \(Book.selection) } \(page) } }
            }
            """
        case .reads:
            """
            query ($after: String) {
              me {
                reads(first: 20, after: $after) {
                  nodes {
                    \(Read.selection)
                    progressEntries(first: 20) { nodes { \(ProgressEntry.selection) } \(page) }
                  }
                  \(page)
                }
              }
            }
            """
        case .progress:
            """
            query ($id: ID!, $after: String) {
              node(id: $id) {
                ... on Read { progressEntries(first: 100, after: $after) { nodes { \(ProgressEntry.selection) } \(page) } }
              }
            }
            """
        case .notes:
            """
            query ($after: String) {
              me { notes(first: 100, after: $after, orderBy: CREATED_ASC) { nodes { \(Note.selection) } \(page) } }
            }
            """
        }
    }
}

struct PageInfo: Decodable {
    let endCursor: String?
    let hasNextPage: Bool
}

struct Page<Node: Decodable>: Decodable {
    let nodes: [Node]
    let pageInfo: PageInfo
}

/// A page of the change log.
struct ChangePage: Decodable {
    let changes: [Change]
    let pageInfo: PageInfo
    let resetRequired: Bool

    /// A change. `node` is nil if the object was deleted, or if its type is not one of the library's.
    struct Change: Decodable {
        let typename: String
        let nodeId: String
        let node: (any LibraryObject)?

        private enum CodingKeys: String, CodingKey { case typename, nodeId, node }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            typename = try container.decode(String.self, forKey: .typename)
            nodeId = try container.decode(String.self, forKey: .nodeId)
            let typename = typename
            let type = libraryTypes.first { $0.typename == typename }
            if let type, try !container.decodeNil(forKey: .node) {
                node = try container.decode(type, forKey: .node)
            } else {
                node = nil
            }
        }
    }
}

/// The responses to the queries of a reset. A field is nil in the responses to the others.
struct ResetResponse: Decodable {
    let me: Me?
    let node: LongRead?

    struct Me: Decodable {
        let shelves: [Shelf]?
        let readingGoals: [ReadingGoal]?
        let books: Page<Book>?
        let reads: Page<ReadWithProgress>?
        let notes: Page<Note>?
    }

    struct LongRead: Decodable { let progressEntries: Page<ProgressEntry>? }

    struct ReadWithProgress: Decodable {
        let read: Read
        let progressEntries: Page<ProgressEntry>

        private enum CodingKeys: CodingKey { case progressEntries }

        init(from decoder: any Decoder) throws {
            read = try Read(from: decoder)
            progressEntries = try decoder.container(keyedBy: CodingKeys.self)
                .decode(Page<ProgressEntry>.self, forKey: .progressEntries)
        }
    }
}
