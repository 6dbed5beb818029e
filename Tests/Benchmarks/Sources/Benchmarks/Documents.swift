import GraphQL

/// The documents of the benchmarks.
enum Documents {
    static let all: [(name: String, text: String)] = [
        ("introspection", introspection), ("300 fields", fields(300)),
        ("100 kB", operations(bytes: 100_000)),
    ]

    /// The schema of all documents.
    static let schema = """
        type Query {
          viewer: Viewer
          library(id: ID!): Library
          items: [Item!]!
        }
        type Viewer {
          book(id: ID!, first: Int, where: Where): String
          title: String
          updatedAt: String
        }
        input Where { tag: String }
        type Library {
          id: ID!
          name: String!
          books(first: Int, filter: BookFilter): BookConnection!
        }
        input BookFilter { status: Status tags: [String!] rating: Float }
        enum Status { READING READ }
        type BookConnection { edges: [BookEdge!]! pageInfo: PageInfo! }
        type BookEdge { cursor: String! node: Book! }
        type PageInfo { hasNextPage: Boolean! endCursor: String }
        type Book {
          id: ID!
          title: String!
          authors: [Author!]!
          cover(size: Size): Cover
          shelves(first: Int): ShelfConnection!
        }
        type Author { id: ID! name: String! }
        enum Size { SMALL LARGE }
        type Cover { url: String! width: Int! height: Int! }
        type ShelfConnection { totalCount: Int! nodes: [Shelf!]! }
        type Shelf { id: ID! name: String! }
        type Item {
          id: ID!
          title: String!
          author: String
          pages: Int!
          currentPage: Int
          rating: Float
          isRead: Boolean!
          genre: String
          addedAt: String!
          position: Int!
        }
        """

    /// A query for ten scalar fields of each object in `Item.all`.
    static let items =
        "{ items { id title author pages currentPage rating isRead genre addedAt position } }"

    /// The introspection query of tools, without `isOneOf`, which graphql-js 16 does not support.
    static let introspection = introspectionQuery.replacing("isOneOf", with: "")

    /// Returns one operation with the given number of fields. A third of them have arguments.
    static func fields(_ count: Int) -> String {
        var text = "query Many($id: ID!, $first: Int = 20) {\n  viewer {\n"
        for index in 0..<count {
            switch index % 3 {
            case 0:
                text += "    book\(index): book(id: $id, first: $first, where: {tag: \"x\"})\n"
            case 1: text += "    title\(index): title\n"
            default: text += "    updatedAtOfShelf\(index): updatedAt\n"
            }
        }
        return text + "  }\n}\n"
    }

    /// Returns typical operations and fragments of an application, at least `bytes` bytes of them.
    static func operations(bytes: Int) -> String {
        var text = ""
        var index = 0
        while text.utf8.count < bytes {
            text += """
                query Library\(index)($id: ID!, $first: Int = 10) {
                  library(id: $id) @include(if: true) {
                    id
                    name
                    books(first: $first, filter: {status: READING, tags: ["a", "b"], rating: 4.5}) {
                      edges {
                        cursor
                        node {
                          ...BookParts\(index)
                          shelves(first: 5) { totalCount nodes { id name } }
                        }
                      }
                      pageInfo { hasNextPage endCursor }
                    }
                  }
                }

                fragment BookParts\(index) on Book {
                  id
                  title
                  authors { id displayName: name }
                  cover(size: SMALL) { url width height }
                }


                """
            index += 1
        }
        return text
    }
}
