import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// The tools of documents, with schemas of their own.
@Suite struct ToolTests {
    private static let schema = """
        type Query {
          "Finds a thing."
          find(
            "The id of the thing." id: ID
            filter: Filter
            limit: Int = 20
            tags: [String!]
            when: DateTime
            at: Place
            mood: Mood
            exact: Boolean
            scale: Float
          ): Thing
          "Counts things."
          count(day: PartialDate, code: ISBN, link: URI, other: Odd): Int
          send(file: Upload, note: Note): Int
          store(input: FileInput): Int
        }
        type Mutation {
          createThing(name: String): Thing
          updateThing(name: String): Thing
          deleteThing(name: String): Thing
          moveThing(name: String): Thing
        }
        type Subscription { things: Thing }
        interface Node { id: ID }
        type Thing implements Node { id: ID parts("How many parts." first: Int): [Thing!] }
        "A point in time."
        scalar DateTime
        scalar PartialDate
        scalar ISBN
        scalar URI
        scalar Odd
        scalar Upload
        "A mood."
        enum Mood { "Nothing happens." CALM LOUD @deprecated }
        input Filter {
          "The text to find." text: String = "a"
          and: [Filter!]
          not: Filter
          mood: Mood! = CALM
          point: Point!
          old: Int @deprecated
        }
        "A place."
        input Place @oneOf { name: String point: Point picture: Upload }
        input Point { x: Float! y: Float! }
        input Note { text: String picture: Upload }
        input FileInput { file: Upload! }
        """

    /// Returns the tool of the first operation; null if there is none.
    private static func tool(_ text: String) throws -> Value {
        let schema = try buildSchema(parse(Source(Self.schema)))
        let document = try parse(Source(text))
        for case .operation(let operation) in document.definitions {
            guard let tool = Tool(operation, scopes: [], of: document, in: schema) else {
                return .null
            }
            return try parseJSON(tool.json)
        }
        return .null
    }

    private static func input(_ text: String) throws -> Value {
        var schema = try #require(try tool(text)["inputSchema"])
        guard case .object(var members) = schema else { return schema }
        #expect(
            members.removeFirst()
                == .init("$schema", "https://json-schema.org/draft/2020-12/schema"))
        schema = .object(members)
        return schema
    }

    @Test(arguments: [
        ("Boolean", "exact", #"{"type":["boolean","null"]}"#),
        ("Boolean!", "exact", #"{"type":"boolean"}"#),
        (
            "Int", "limit",
            #"{"type":["integer","null"],"minimum":-2147483648,"maximum":2147483647}"#
        ),
        ("Float!", "scale", #"{"type":"number"}"#),
        ("ID!", "id", #"{"type":"string","description":"The id of the thing."}"#),
        ("[String!]!", "tags", #"{"type":"array","items":{"type":"string"}}"#),
        ("[String!]", "tags", #"{"type":["array","null"],"items":{"type":"string"}}"#),
        ("Mood!", "mood", ##"{"$ref":"#/$defs/Mood"}"##),
        ("Mood", "mood", ##"{"anyOf":[{"$ref":"#/$defs/Mood"},{"type":"null"}]}"##),
        (
            "Mood = CALM", "mood",
            ##"{"anyOf":[{"$ref":"#/$defs/Mood"},{"type":"null"}],"default":"CALM"}"##
        ),
        (
            "Int! = 7", "limit",
            #"{"type":"integer","minimum":-2147483648,"maximum":2147483647,"default":7}"#
        ),
        (
            "[String!]! = [\"a\"]", "tags",
            #"{"type":"array","items":{"type":"string"},"default":["a"]}"#
        ),
    ])
    func variablesHaveTheirTypes(type: String, argument: String, schema: String) throws {
        let input = try Self.input(
            "query Find($value: \(type)) { find(\(argument): $value) { id } }")
        #expect(input["properties"] == .object([.init("value", try parseJSON(Array(schema.utf8)))]))
        let required: Value? = type.hasSuffix("!") ? ["value"] : nil
        #expect(input["required"] == required)
        #expect(input["type"] == "object")
        #expect(input["additionalProperties"] == false)
    }

    @Test func operationWithoutVariablesAcceptsAnEmptyObject() throws {
        #expect(
            try Self.input("query Count { count }")
                == ["type": "object", "properties": [:], "additionalProperties": false])
    }

    @Test func inputObjectsAreDefinitionsThatReferToThemselves() throws {
        let input = try Self.input("query Find($filter: Filter!) { find(filter: $filter) { id } }")
        let expected = ##"""
            {
              "Mood": {"type": "string", "enum": ["CALM", "LOUD"],
                "description": "A mood.\n- CALM: Nothing happens.\n- LOUD"},
              "Point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                "required": ["x", "y"], "additionalProperties": false},
              "Filter": {"type": "object", "properties": {
                "text": {"type": ["string", "null"], "description": "The text to find.", "default": "a"},
                "and": {"type": ["array", "null"], "items": {"$ref": "#/$defs/Filter"}},
                "not": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]},
                "mood": {"$ref": "#/$defs/Mood", "default": "CALM"},
                "point": {"$ref": "#/$defs/Point"},
                "old": {"type": ["integer", "null"], "minimum": -2147483648, "maximum": 2147483647, "deprecated": true}
              }, "required": ["point"], "additionalProperties": false}
            }
            """##
        #expect(input["$defs"] == (try parseJSON(Array(expected.utf8))))
    }

    @Test func oneOfObjectsHaveOneMemberThatIsNotNull() throws {
        let input = try Self.input("query Find($at: Place!) { find(at: $at) { id } }")
        let place = try #require(input["$defs"]?["Place"])
        #expect(
            place["properties"] == ["name": ["type": "string"], "point": ["$ref": "#/$defs/Point"]])
        #expect(place["minProperties"] == 1)
        #expect(place["maxProperties"] == 1)
        #expect(place["required"] == nil)
        #expect(place["description"] == "A place.")
    }

    @Test(
        arguments: [
            ("DateTime", "when", "format", "date-time"), ("ISBN", "code", "pattern", "^[0-9]{13}$"),
            ("URI", "link", "format", "uri"),
            (
                "PartialDate", "day", "pattern",
                "^[1-9][0-9]{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$"
            ),
            ("Odd", "other", "format", nil),
        ] as [(String, String, String, String?)])
    func customScalarsHaveFormats(
        type: String, argument: String, member: String, format: String?
    ) throws {
        let field = argument == "when" ? "find(when: $value) { id }" : "count(\(argument): $value)"
        let input = try Self.input("query Find($value: \(type)!) { \(field) }")
        let definition = try #require(input["$defs"]?[type])
        #expect(definition["type"] == "string")
        #expect(definition[member]?.string == format)
        #expect(
            definition["description"]?.string == (type == "DateTime" ? "A point in time." : nil))
    }

    @Test func filesAreLeftOutIfTheyAreOptional() throws {
        let input = try Self.input(
            "query Send($file: Upload, $note: Note, $input: FileInput) { send(file: $file, note: $note) store(input: $input) }"
        )
        guard case .object(let properties)? = input["properties"] else {
            return #expect(Bool(false), "\(input)")
        }
        #expect(properties.map(\.name) == ["note"])
        #expect(input["$defs"]?["Note"]?["properties"] == ["text": ["type": ["string", "null"]]])
    }

    @Test(arguments: [
        "query Send($file: Upload!) { send(file: $file) }",
        "query Store($input: FileInput!) { store(input: $input) }",
        "query Store($inputs: [FileInput]!) { store(input: $inputs) }",
        "subscription Things { things { id } }", "query { count }", "{ count }",
        "query \(String(repeating: "n", count: 129)) { count }",
    ])
    func someOperationsAreNoTools(text: String) throws {
        #expect(try Self.tool(text) == .null)
    }

    @Test(arguments: [
        ("\"Says it.\" query Find { find { id } }", "Says it."),
        ("\"\"\"\nSays it.\nTwice.\n\"\"\"\n# no\nquery Find { find { id } }", "Says it.\nTwice."),
        (
            "# one\n\n  # Looks for\r\n\t#  a thing.\nquery Find { find { id } }",
            "Looks for\na thing."
        ),
        ("query Find { find { id } count }", "Finds a thing.\nCounts things."),
        ("# of a fragment\n\nquery Find { __typename }", ""),
        ("query Find { # inside\n __typename }", ""),
    ])
    func descriptionIsThatOfTheOperationOrOfItsFields(text: String, description: String) throws {
        let tool = try Self.tool(text)
        #expect(tool["name"] == "Find")
        #expect(tool["description"]?.string == description)
    }

    @Test func variablesAreDescribedByTheArgumentsThatUseThem() throws {
        let input = try Self.input(
            """
            query Find($id: ID!, "Its own." $name: String, $first: Int, $text: String, $x: Float!) {
              find(id: $id, filter: {and: [{text: $text, point: {x: $x, y: 0}}], point: {x: 1, y: 1}}, tags: [$name]) {
                ...Parts
                ... on Node { ... on Thing { other: parts(first: $first) { id } } }
              }
            }
            fragment Parts on Thing { parts(first: $first) { id } }
            """)
        let properties = input["properties"]
        #expect(properties?["id"]?["description"] == "The id of the thing.")
        #expect(properties?["name"]?["description"] == "Its own.")
        #expect(properties?["first"]?["description"] == "How many parts.")
        #expect(properties?["text"]?["description"] == "The text to find.")
        #expect(properties?["x"]?["description"] == nil)
    }

    @Test(arguments: [
        ("FindThings", "Find Things"), ("lookupISBN", "Lookup ISBN"), ("add_book", "Add Book"),
        ("__a", "A"), ("_", "_"), ("Top10Books", "Top10 Books"),
    ])
    func titleHasTheWordsOfTheName(name: String, title: String) throws {
        #expect(try Self.tool("query \(name) { count }")["title"]?.string == title)
    }

    @Test(arguments: [
        ("query A { count }", #"{"readOnlyHint":true}"#),
        ("mutation A { createThing { id } }", #"{"readOnlyHint":false,"destructiveHint":false}"#),
        (
            "mutation A { updateThing { id } deleteThing { id } }",
            #"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true}"#
        ),
        ("mutation A { moveThing { id } }", #"{"readOnlyHint":false,"destructiveHint":true}"#),
        (
            "mutation A { createThing { id } deleteThing { id } }",
            #"{"readOnlyHint":false,"destructiveHint":true}"#
        ),
        (
            "mutation A { ... { createThing { id } } }",
            #"{"readOnlyHint":false,"destructiveHint":true}"#
        ),
    ])
    func annotationsDescribeTheEffects(text: String, annotations: String) throws {
        #expect(try Self.tool(text)["annotations"] == (try parseJSON(Array(annotations.utf8))))
    }
}
