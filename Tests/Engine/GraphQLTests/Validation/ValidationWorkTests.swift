import Testing

@testable import GraphQL

/// Validates documents that are designed to be slow, and counts the work.
@Suite struct ValidationWorkTests {
    /// A document of a given size.
    struct Family: CustomTestStringConvertible, Sendable {
        let name: String
        /// The size of the smaller of the two documents.
        let size: Int
        /// The factor by which the work can grow if the size is doubled: 2 if it is linear.
        var growth = 2
        /// The start of the first error; nil if the documents are valid.
        var message: String?
        let source: @Sendable (_ size: Int) -> String

        var testDescription: String { name }
    }

    /// The counted work of validating a document.
    private struct Work {
        let nodes: Int
        let walked: Int
        /// The fields that were visited to check whether fields can be merged.
        let visits: Int
        /// The comparisons that were made to find the fields that conflict.
        let comparisons: Int
        let messages: [String]

        init(_ source: String) throws {
            let document = try parse(Source(source), limits: .trusted)
            nodes = Int(document.tree.nodes.count)
            let options = ValidationOptions()
            var walk = CountingRule()
            _ = errors(of: &walk, in: document, against: harnessSchema, options: options)
            walked = walk.nodesCount
            var merging = OverlappingFieldsCanBeMergedRule()
            _ = errors(of: &merging, in: document, against: harnessSchema, options: options)
            visits = merging.visitsCount
            comparisons = merging.comparisonsCount
            messages = validate(document, against: harnessSchema).map(\.message)
        }
    }

    private static func repeated(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined()
    }

    static let valid = [
        Family(name: "repeated leaves", size: 10_000) { size in
            "{ author { " + repeated(size) { _ in "name " } + "} }"
        },
        Family(name: "repeated fields with selections", size: 2_500) { size in
            "{ " + repeated(size) { _ in "author { friend { name } } " } + "}"
        },
        Family(name: "inline fragments", size: 100) { size in
            "{ author { "
                + repeated(size) { _ in
                    "... on Author { " + String(repeating: "name ", count: 100) + "} "
                } + "} }"
        },
        Family(name: "many aliases", size: 2_500) { size in
            "{ author { " + repeated(size) { "a\($0): name " } + "} }"
        },
        Family(name: "a chain of fragments", size: 3_750) { size in
            "{ author { ...F0 } } "
                + repeated(size) { "fragment F\($0) on Author { friend { ...F\($0 + 1) } } " }
                + "fragment F\(size) on Author { name }"
        },
        Family(name: "doubling fragments", size: 25) { size in
            "{ author { ...F0 } } "
                + repeated(size) {
                    "fragment F\($0) on Author { a: friend { ...F\($0 + 1) } b: friend { ...F\($0 + 1) } } "
                } + "fragment F\(size) on Author { name }"
        },
        // Each fragment is merged with all fragments after it.
        Family(name: "reused fragments", size: 50, growth: 4) { size in
            "{ author { ...F0 ...F0 } } "
                + repeated(size) {
                    "fragment F\($0) on Author { ...F\($0 + 1) friend { ...F\($0 + 1) } name } "
                } + "fragment F\(size) on Author { name }"
        },
    ]

    static let invalid = [
        Family(
            name: "a ring of fragments", size: 3_750,
            message: "Cannot spread fragment \"F0\" within itself via \"F1\", \"F2\""
        ) { size in
            "{ author { ...F0 } } "
                + repeated(size) { "fragment F\($0) on Author { ...F\(($0 + 1) % size) } " }
        },
        Family(
            name: "repeated fields that conflict", size: 1_500,
            message: "Fields \"a\" conflict because they have differing arguments."
        ) { size in
            "{ author { "
                + repeated(size) { "a: nick(style: \($0 % 2 == 0 ? "SHORT" : "LONG")) " } + "} }"
        },
        Family(
            name: "nested fields that conflict in the end", size: 350,
            message: "Fields \"author\" conflict because subfields \"friend\" conflict because"
        ) { size in
            "{ "
                + repeated(size) { _ in
                    "author { friend { friend { name } } } author { friend { friend { name: age } } } "
                } + "}"
        },
        Family(
            name: "unknown directives", size: 2_500, message: "Unknown directive \"@d0\"."
        ) { size in "{ author { name " + repeated(size) { "@d\($0) " } + "} }" },
        Family(
            name: "unknown fields", size: 2_500, message: "Cannot query field \"nope0\""
        ) { size in "{ author { " + repeated(size) { "nope\($0) " } + "} }" },
        Family(
            name: "an unknown name as long as the document", size: 50_000,
            message: "Cannot query field \"aaa"
        ) { size in "{ \(String(repeating: "a", count: size)) }" },
    ]

    @Test(arguments: valid + invalid) func workGrowsWithTheSizeOfTheDocument(family: Family) throws
    {
        let (small, large) = (
            try Work(family.source(family.size)), try Work(family.source(2 * family.size))
        )
        for work in [small, large] {
            if let message = family.message {
                #expect(work.messages.first?.hasPrefix(message) == true)
                #expect(work.messages.count <= ValidationOptions().errorsMax + 1)
            } else {
                #expect(work.messages == [])
                #expect(work.comparisons == 0)
            }
            #expect(work.walked <= work.nodes)
        }
        // A few steps do not depend on the size.
        #expect(large.visits <= family.growth * small.visits + 10)
        #expect(large.comparisons <= family.growth * small.comparisons + 10)
    }

    @Test func plainFieldsAreWalkedOncePerParentType() throws {
        let source = "{ author { " + String(repeating: "name ", count: 1_000) + "} }"
        // The operation, two selection sets, and the fields `author` and `name`.
        #expect(try Work(source).walked == 5)
    }

    /// The fields differ on mutually exclusive types, so all pairs have to be compared.
    @Test func comparisonsOfFieldsAreLimited() throws {
        func work(_ size: Int) throws -> Work {
            let fields = String(
                repeating:
                    "... on Book { a: author { x: name } } ... on Author { a: friend { x: nick } } ",
                count: size)
            return try Work("{ items { \(fields)} }")
        }
        #expect(try work(100).messages == [])
        let tooLarge = try work(2_000)
        let comparisonsMax = OverlappingFieldsCanBeMergedRule.comparisonsMax
        #expect(tooLarge.comparisons == comparisonsMax + 1)
        #expect(
            tooLarge.messages == [
                "Checking whether the fields can be merged takes more than \(comparisonsMax) comparisons."
            ])
    }
}
