import GraphQL

/// Generates valid documents. Each must parse, and its printed text must parse and print to the
/// same text.
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
        fatalError("The printed text does not parse: \(text)")
    }
    if print(again) != text {
        fatalError(
            "Printing the printed text gives a different text:\n\(text)\n---\n\(print(again))")
    }
    return 0
}
