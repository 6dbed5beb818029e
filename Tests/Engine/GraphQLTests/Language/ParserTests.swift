import Testing

@testable import GraphQL

@Suite struct ParserTests {
    private func text(_ range: SourceRange, of source: Source) -> String {
        String(decoding: source.bytes[Int(range.start)..<Int(range.end)], as: UTF8.self)
    }

    @Test func nodesHaveSourceRanges() throws {
        let source = Source(
            "# é\n\"d\" query Q ( $ a : [Int!] = 1 @c ) @d(x: $a) { b: c(e: {f: \"😀\"}) , g }\n")
        guard case .operation(let operation)? = try parse(source).definitions.first,
            case .field(let field)? = operation.selectionSet.selections.first,
            let variable = operation.variables.first, let directive = operation.directives.first,
            let argument = field.arguments.first
        else { return #expect(Bool(false)) }
        #expect(text(operation.range, of: source).hasPrefix("\"d\" query Q"))
        #expect(text(operation.range, of: source).hasSuffix(", g }"))
        #expect(operation.description.map { text($0.range, of: source) } == "\"d\"")
        #expect(operation.name.map { text($0.range, of: source) } == "Q")
        #expect(text(variable.range, of: source) == "$ a : [Int!] = 1 @c")
        #expect(text(variable.variableRange, of: source) == "$ a")
        #expect(text(variable.name.range, of: source) == "a")
        #expect(text(directive.range, of: source) == "@d(x: $a)")
        #expect(text(directive.name.range, of: source) == "d")
        #expect(text(field.range, of: source) == "b: c(e: {f: \"😀\"})")
        #expect(field.alias.map { text($0.range, of: source) } == "b")
        #expect(text(argument.value.range, of: source) == "{f: \"😀\"}")
        guard case .list(let item, let range) = variable.type else { return #expect(Bool(false)) }
        #expect(text(range, of: source) == "[Int!]")
        guard case .nonNull(_, let inner) = item else { return #expect(Bool(false)) }
        #expect(text(inner, of: source) == "Int!")
    }

    @Test(arguments: [
        "on", "fragment", "query", "mutation", "subscription", "true", "false", "null", "type",
        "schema", "extend", "repeatable", "implements",
    ])
    func keywordsAreValidNames(word: String) throws {
        let fragment = word == "on" ? "F" : word
        _ = try parse(
            Source(
                """
                query \(word)($\(word): \(word)) { \(word) ... on \(word) { \(word) }
                  \(word): \(word)(\(word): $\(word)) @\(word)(\(word): \(word)) ...\(fragment) }
                fragment \(fragment) on \(word) { \(word) }
                """))
        _ = try parse(
            Source(
                """
                type \(word) implements \(word) { \(word)(\(word): \(word)): \(word) }
                extend union \(word) = \(word)
                directive @\(word)(\(word): \(word)) on FIELD
                """))
    }

    @Test(arguments: [
        (#""\u00e9\u{e9}\u{0000E9}\u{1F600}\uD83D\uDE00""#, "ééé😀😀"),
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        ("\"\u{0}\u{7}\u{7F}\u{2028}\t\"", "\u{0}\u{7}\u{7F}\u{2028}\t"),
        (#""\u0000""#, "\u{0}"), ("\"\"", ""), ("\"# no comment\"", "# no comment"),
        ("\"\"\"\\n \\u00e9\"\"\"", "\\n \\u00e9"),
        ("\"\"\"\n  a\u{A0}\n\u{2003} b\n  c\"\"\"", "  a\u{A0}\n\u{2003} b\n  c"),
        ("\"\"\"a\n\n\n   b\n  c\n\"\"\"", "a\n\n\n b\nc"),
        ("\"\"\"\"a\"\"\"", "\"a"),
    ])
    func computesStringValues(literal: String, expected: String) throws {
        guard case .string(let string) = try parseValue(Source(literal)).kind else {
            return #expect(Bool(false))
        }
        #expect(string.value == expected)
        #expect(string.isBlock == literal.hasPrefix("\"\"\""))
    }

    @Test(arguments: [
        "\u{FEFF}{a}", "{a,,,b}", ",{\t\ra\r\n}#", "{a#c\rb}", "{\u{FEFF}a}", "#\n{a}#😀",
    ])
    func skipsIgnoredTokens(text: String) throws {
        _ = try parse(Source(text))
    }

    /// The words of a long name must not cancel each other out in the hash, because clients could
    /// then choose names that all collide.
    @Test func longNamesOfRepeatedWordsHaveDistinctKeys() throws {
        var highs = Set<UInt64>()
        for word in ["bbbbbbbb", "cccccccc", "dddddddd"] {
            let text = IndexedText(Source("aaaaaaaa" + word + word), scratchSize: 0)
            highs.insert(try #require(text.bytes.name(at: 0)).key.high)
        }
        #expect(highs.count == 3)
    }

    /// The texts have a space between all tokens and no other spaces.
    @Test(
        arguments: [
            """
            query Q ( $ a : [ Int ! ] ! = [ 1 , -1 ] @ d ( a : 1 ) , "s" $ b : B ) @ d @ e ( x : { y : [ $ a ] } ) \
            { a b : c ( d : $ a e : "f" g : 1.5 h : true i : null j : K l : { } m : [ ] n : { o : { p : 1 } } ) @ q { r } \
            ... F @ d ... on T @ d { a ... @ d { a } ... { a } } s { t u } v }
            """,
            "fragment F on T @ d { a }", "{ a }", "mutation { a } subscription S { a }",
            """
            "s" schema @ d { query : Q mutation : M } extend schema @ d scalar S @ d extend scalar S @ d \
            "t" type T implements & A & B @ d { "f" f ( "a" a : [ I ! ] = [ 1 ] @ d b : J ) : T ! @ d g : [ T ] } \
            extend type T implements A type U interface I implements A { a : B } union U @ d = | A | B union V = A \
            enum E @ d { "a" A @ d B } input I @ d { "a" a : B = { c : 1 } @ d } extend input I { b : C } \
            "d" directive @ d ( a : I = 1 ) repeatable on | FIELD | QUERY directive @ e on ENUM
            """,
        ], ["#c\n", "\u{FEFF}", ",\t\r\n", "#{\r#\u{FEFF}\n\u{FEFF}"])
    func acceptsIgnoredTextBetweenAnyTokens(text: String, ignored: String) throws {
        let separated = ignored + text.replacing(" ", with: ignored) + ignored
        #expect(print(try parse(Source(separated))) == print(try parse(Source(text))))
    }

    @Test func preservesNumberText() throws {
        for text in ["0", "-0", "4", "-4", "9007199254740993"] {
            guard case .int(text) = try parseValue(Source(text)).kind else {
                return #expect(Bool(false))
            }
        }
        for text in [
            "4.123", "-4.123", "0.123", "123e4", "123E4", "123e-4", "123e+4", "-1.123e4567",
        ] {
            guard case .float(text) = try parseValue(Source(text)).kind else {
                return #expect(Bool(false))
            }
        }
    }

    @Test func acceptsDescriptionsOfSeptember2025() throws {
        let document = try parse(
            Source(
                """
                "o" query ("v" $a: Int) { a }
                \"""f\""" fragment F on T { a }
                "s" schema { query: Q }
                "t" type T { "g" g("x" x: I): I }
                "e" enum E { "a" A }
                "i" input I { "a" a: I }
                "u" union U = T
                "c" scalar S
                "n" interface N
                "d" directive @d on FIELD
                """))
        #expect(document.definitions.count == 10)
        guard case .operation(let operation)? = document.definitions.first,
            case .fragment(let fragment)? = document.definitions.dropFirst().first
        else { return #expect(Bool(false)) }
        #expect(operation.description?.value == "o")
        #expect(operation.variables.first?.description?.value == "v")
        #expect(fragment.description?.value == "f")
    }

    /// The lexer processes 8, 16, and 64 bytes at once. The result must not depend on the position
    /// of a token in these blocks.
    @Test(arguments: 0...130)
    func resultDoesNotDependOnAlignment(blanks: Int) throws {
        let text =
            "query Q($veryLongVariable_17: [Int!]! = [-1.5e3, 7]) {a(b:\"é # }\",c:\"\"\"d\"\"\")"
            + "...F@skip(if:$veryLongVariable_17)} # {\nfragment F on T{x:y{...on T{z}}}"
        let document = try parse(Source(String(repeating: " ", count: blanks) + text))
        #expect(print(document) == print(try parse(Source(text))))
        let first = try #require(document.definitions.first)
        guard case .operation(let operation) = first else { throw GraphQLError("no operation") }
        #expect(operation.range.start == Int32(blanks))
        expectSyntaxError(
            Source(String(repeating: " ", count: blanks) + "{ab cd"), "Expected Name, found <EOF>.",
            1, blanks + 7)
    }

    @Test(arguments: [1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 55, 56, 57, 63, 64, 65, 200])
    func distinguishesNamesOfAnyLength(length: Int) throws {
        let name = String(repeating: "n", count: length)
        let others = (0..<length).map { index -> String in
            name.prefix(index) + "m" + name.dropFirst(index + 1)
        }
        let names = [name] + others + [name + "n", name]
        let document = try parse(
            Source("{" + names.joined(separator: " ") + "}"), limits: .trusted)
        guard case .operation(let operation)? = document.definitions.first else {
            throw GraphQLError("no operation")
        }
        let keys = operation.selectionSet.selections.compactMap { selection -> Field? in
            if case .field(let field) = selection { field } else { nil }
        }
        #expect(keys.map(\.name.value) == names)
        #expect(Set(keys.map(\.responseKeyID)).count == names.count - 1)
        #expect(keys.first?.responseKeyID == keys.last?.responseKeyID)
    }
}
