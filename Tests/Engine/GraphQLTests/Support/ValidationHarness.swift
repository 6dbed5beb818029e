import Testing

@testable import GraphQL

/// The schema for the tests of all rules.
let harnessSchema: Schema = {
    do {
        return try buildSchema(
            try parse(
                Source(
                    """
                    directive @onField(note: String, level: Int! = 1) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
                    directive @onQuery(if: Boolean!) on QUERY | FRAGMENT_DEFINITION | VARIABLE_DEFINITION
                    directive @tag(name: String!) repeatable on FIELD | QUERY

                    interface Node { id: ID! }
                    interface Named implements Node { id: ID! name: String nick(style: Style = SHORT): String }
                    type Book implements Named & Node {
                      id: ID! name: String nick(style: Style = SHORT): String title: String! pages: Int
                      tags: [String!]! author: Author similar(first: Int = 10, filter: Filter): [Book!]!
                    }
                    type Author implements Named & Node {
                      id: ID! name: String nick(style: Style = SHORT): String age: Int
                      books(first: Int!, filter: Filter): [Book] friend: Author title: Int
                    }
                    type Shelf implements Node { id: ID! items: [Item!]! owner: Author }
                    union Item = Book | Author
                    scalar Anything
                    scalar Even
                    enum Style { SHORT LONG }
                    input Filter {
                      text: String style: Style = SHORT limit: Int! = 5 any: Anything even: Even not: Filter
                      range: Range ids: [ID!]
                    }
                    input Range { min: Int! max: Float }
                    input Pick @oneOf { id: ID name: String range: Range }
                    type Query {
                      node(id: ID!): Node book(id: ID!): Book author: Author named: Named shelf: Shelf
                      items(filter: Filter, pick: Pick): [Item!]! needs(pick: Pick!): Item
                      count(of: [Int!]!, flag: Boolean! = false): Int! matrix(rows: [[Int]]): [[Float]]
                    }
                    type Subscription { changed(id: ID): Item ticked: Int! }
                    """)),
            scalars: [
                "Even": { value throws(CoercionError) in
                    guard let number = value.int, number.isMultiple(of: 2) else {
                        throw CoercionError("Not an even number.")
                    }
                    return value
                }
            ])
    } catch {
        fatalError("The harness schema is wrong: \(error)")
    }
}()

/// Returns the errors of one rule for a document as `message @1:2 3:4`, with the locations of each
/// error.
func errors<Rule: ValidationRule>(
    of rule: Rule, in source: String, options: ValidationOptions = ValidationOptions()
) throws -> [String] {
    var rule = rule
    let document = try parse(Source(source), limits: .trusted)
    let found = GraphQL.errors(
        of: &rule, in: document, against: harnessSchema, options: options)
    #expect(found.allSatisfy { $0.kind != nil })
    return found.map(\.described)
}

extension GraphQLError {
    /// `message @1:2 3:4`
    var described: String {
        message + " @" + locations.map { "\($0.line):\($0.column)" }.joined(separator: " ")
    }
}
