import GraphQL

/// Documents of the grammar: each parses, and its print is a text that parses and prints alike.
func fuzzGrammar(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var grammar = Grammar(Array(UnsafeBufferPointer(start: start, count: count)))
    grammar.document()
    let document: Document
    do throws(GraphQLError) {
        document = try parse(Source(grammar.text), limits: .trusted)
    } catch {
        fatalError("\(error.message) \(error.locations) in \(grammar.text)")
    }
    let text = print(document)
    guard let again = try? parse(Source(text), limits: .trusted) else {
        fatalError("The print does not parse: \(text)")
    }
    if print(again) != text {
        fatalError("The print of the print differs:\n\(text)\n---\n\(print(again))")
    }
    return 0
}
