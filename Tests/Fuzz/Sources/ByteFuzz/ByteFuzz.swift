import GraphQL

/// Any bytes: the parser and the JSON reader answer, and what was parsed prints as a text that parses alike.
func fuzzBytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let document = try? parse(Source(bytes)) {
        let text = print(document)
        guard let again = try? parse(Source(text), limits: .trusted) else {
            fatalError("The print does not parse: \(text)")
        }
        if print(again) != text {
            fatalError("The print of the print differs:\n\(text)\n---\n\(print(again))")
        }
    }
    _ = try? parseValue(Source(bytes))
    _ = try? parseType(Source(bytes))
    _ = try? parseJSON(bytes)
    return 0
}
