import GraphQL

/// The texts that are measured.
enum Documents {
    static let all: [(name: String, text: String)] = [
        ("introspection", introspection), ("300 fields", fields(300)),
        ("100 kB", operations(bytes: 100_000)),
    ]

    /// The schema that all of them are valid for.
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

    /// Ten scalars of each of the objects that `Items` has in memory.
    static let items =
        "{ items { id title author pages currentPage rating isRead genre addedAt position } }"

    /// Everything about a schema, as tools ask for it; graphql-js 16 does not know `isOneOf` yet.
    static let introspection = introspectionQuery.replacing("isOneOf", with: "")

    /// One operation with that many fields, a third of them with arguments.
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

    /// Operations and fragments as an application would write them, until there are `bytes` of them.
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
