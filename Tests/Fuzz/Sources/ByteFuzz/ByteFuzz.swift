import GraphQL

/// Passes arbitrary bytes to the parser and the JSON reader, which must not crash. If the bytes are
/// a document, its printed text must parse and print to the same text.
func fuzzBytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let document = try? parse(Source(bytes)) {
        let text = print(document)
        guard let again = try? parse(Source(text), limits: .trusted) else {
            fatalError("The printed text does not parse: \(text)")
        }
        if print(again) != text {
            fatalError(
                "Printing the printed text gives a different text:\n\(text)\n---\n\(print(again))")
        }
    }
    _ = try? parseValue(Source(bytes))
    _ = try? parseType(Source(bytes))
    _ = try? parseJSON(bytes)
    return 0
}
