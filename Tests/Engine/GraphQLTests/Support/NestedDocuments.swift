/// Returns a text inside `count` repetitions of an opening and a closing text.
func nested(_ open: String, _ inside: String, _ close: String, _ count: Int) -> String {
    String(repeating: open, count: count) + inside + String(repeating: close, count: count)
}

/// Valid documents with the maximum nesting depth, by the kind of nesting.
let deepestDocuments: [(name: String, source: String, listDepth: Int)] = [
    ("fields", "{ " + nested("a { ", "x", " }", 199) + " }", 1),
    (
        "fields twice",
        "{ " + nested("a { ", "x", " }", 199) + nested("a { ", "x", " }", 199) + " }", 1
    ),
    ("inline fragments", "{ " + nested("... { ", "x", " }", 199) + " }", 1),
    (
        "fragments on types",
        "{ i { " + nested("... on I { i { ", "__typename", " } }", 99) + " } }", 1
    ),
    ("lists", "{ a(v: " + nested("[", "", "]", 199) + ") { x } }", 1),
    ("objects", "{ a(v: " + nested("{a: ", "1", "}", 199) + ") { x } }", 1),
    ("input objects", "{ a(r: " + nested("{r: ", "null", "}", 199) + ") { x } }", 1),
    ("input objects in lists", "{ a(r: " + nested("{l: [", "", "]}", 99) + ") { x } }", 1),
    ("typed lists", "{ a(l: " + nested("[", "", "]", 199) + ") { x } }", 199),
    (
        "a variable's type", "query ($l: \(nested("[", "Int", "]", 200))) { a(l: $l) { x } }",
        200
    ),
    (
        "arguments twice",
        "{ " + String(repeating: "a(v: \(nested("[", "", "]", 198))) { x } ", count: 2) + "}", 1
    ),
]
