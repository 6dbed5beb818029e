import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Sends values that are likely to be wrong at each place of the arguments of each root field. The places are generated from the
/// schema, so new arguments are included.
@Suite struct BadInputTests {
    static let app = Shared { try await TestApp.start(catalog: TestCatalog.lines(5)) }

    static let fields: [(kind: String, field: FieldDefinition)] = {
        let schema = GeneratedProbeTests.schema
        return [("query", schema.queryType), ("mutation", schema.mutationType)].flatMap {
            kind, root in (root?.fieldsType?.fields ?? []).map { (kind, $0) }
        }.filter { !$0.1.arguments.isEmpty }
    }()

    /// The codes of errors that are about the input.
    private static let codes: Set = [
        "BAD_USER_INPUT", "CONFLICT", "NOT_FOUND", "QUOTA_EXCEEDED", "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_IMAGE", "UPSTREAM_UNAVAILABLE",
    ]

    @Test(arguments: fields.map(\.field.name))
    func everyErrorHasAReason(name: String) async throws {
        let (kind, field) = try #require(Self.fields.first { $0.field.name == name })
        for (response, value) in try await responses(kind, field) {
            for error in Self.errors(in: response.json) {
                let code = error["code"]?.string ?? ""
                #expect(code != "INTERNAL_SERVER_ERROR", "\(name) \(value): \(response.json)")
                guard Self.codes.contains(code) else { continue }
                let reason = error["reason"]?.string ?? "none"
                #expect(
                    ErrorReason(rawValue: reason) != nil || reason == "INVALID_REQUEST",
                    "\(name) \(value): \(error)")
                if code == "BAD_USER_INPUT", reason != "INVALID_REQUEST" {
                    #expect(error["field"]?.string != nil, "\(name) \(value): \(error)")
                }
                let sentence = ErrorReason(rawValue: reason).map(ErrorTexts.english.text) ?? ""
                for limit in ["min", "max"] where sentence.contains("{\(limit)}") {
                    #expect(error[.name(limit)]?.double != nil, "\(name) \(value): \(error)")
                }
            }
        }
    }

    /// The values are bad enough to find the common reasons.
    @Test func reasonsOfABook() async throws {
        let (kind, field) = try #require(Self.fields.first { $0.field.name == "createBook" })
        let errors = try await responses(kind, field).flatMap { Self.errors(in: $0.0.json) }
        let reasons = Set(errors.compactMap { $0["reason"]?.string })
        #expect(
            reasons.isSuperset(of: [
                "EMPTY", "TOO_LONG", "TOO_MANY", "TOO_SMALL", "INVALID_CHARACTER", "INVALID_ID",
                "INVALID_DATE", "INVALID_LANGUAGE", "ISBN_LENGTH", "NO_SUCH_CARD",
                "INVALID_REQUEST",
            ]), "\(reasons)")
    }

    @Test func messagesAreInTheLanguageOfTheRequest() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let document = """
            mutation($name: String!, $inputs: [CreateBookInput!]!) {
              createBooks(inputs: $inputs) { error { message } }
              createShelf(input: {name: $name}) { id }
            }
            """
        func messages(_ language: String?) async throws -> [String?] {
            let response = try await app.execute(
                document,
                ["name": .string(String(repeating: "x", count: 101)), "inputs": [["title": ""]]],
                token: reader.token, acceptLanguage: language)
            return [response.message, response.reason]
        }
        let english = ["Name may have at most 100 characters.", "TOO_LONG"]
        #expect(try await messages(nil) == english)
        #expect(try await messages("xx, nl;q=0.5") == english)
        #expect(
            try await messages("xx, de-AT;q=0.9, en;q=0.5")
                == ["Höchstens 100 Zeichen sind erlaubt.", "TOO_LONG"])
        let batch = try await app.execute(
            "mutation { createBooks(inputs: [{title: \"\"}]) { error { reason message } } }",
            token: reader.token, acceptLanguage: "ja")
        #expect(
            batch["createBooks", 0, "error"] == ["reason": "EMPTY", "message": "入力してください。"])
        // Before the operation is executed.
        let anonymous = try await app.execute("{ me { id } }", token: nil, acceptLanguage: "fr")
        #expect(anonymous.message == "Connectez-vous et réessayez.")
        // Raised by a function of the database.
        let unlinked = try await app.execute(
            """
            mutation($id: ID!) { unlinkIdentity(id: $id) { id } }
            """,
            [
                "id": try await reader.requireValue(
                    "{ me { identities { id } } }", .null, "me", "identities", 0, "id")
            ], token: reader.token, acceptLanguage: "es")
        #expect(unlinked.code == "CONFLICT" && unlinked.reason == "ONLY_IDENTITY")
        #expect(unlinked.message?.hasPrefix("Es la única identidad") == true)
    }

    // MARK: - Requests

    private func responses(
        _ kind: String, _ field: FieldDefinition
    ) async throws -> [(TestResponse, value: String)] {
        let reader = try await Self.app().makeReader()
        let inputs = InputValues(
            shelf: try await reader.makeShelf("Shelf"), book: try await reader.makeBook("Book"))
        let selection = Literals(schema: inputs.schema).selection(of: field.type, depth: 2)
        let names = field.arguments.map(\.name)
        let document = """
            \(kind)(\(field.arguments.map { "$\($0.name): \(InputValues.text(of: $0.type))" }.joined(separator: ", "))) {
              \(field.name)(\(names.map { "\($0): $\($0)" }.joined(separator: ", ")))\(selection)
            }
            """
        var responses: [(TestResponse, value: String)] = []
        for argument in field.arguments {
            for path in inputs.paths(in: argument.type) {
                for bad in inputs.badValues(of: path.type) {
                    let variables = field.arguments.compactMap { other -> Value.Member? in
                        let isBad = other.name == argument.name
                        guard isBad || other.type.isNonNull else { return nil }
                        return Value.Member(
                            other.name,
                            inputs.value(
                                other.type, named: other.name,
                                isBad ? (path.names[...], bad) : nil))
                    }
                    let response = try await reader.execute(document, .object(variables))
                    let place = ([argument.name] + path.names).joined(separator: ".")
                    responses.append((response, "\(place): \("\(bad)".prefix(40))"))
                }
            }
        }
        return responses
    }

    /// Returns the `extensions` of all errors, and the objects of the type `InputError`.
    private static func errors(in json: Value) -> [Value] {
        (json["errors"]?.list ?? []).compactMap { $0["extensions"] }
            + (json["data"].map(inputErrors) ?? [])
    }

    private static func inputErrors(in value: Value) -> [Value] {
        switch value {
        case .list(let items): items.flatMap(inputErrors)
        case .object(let members):
            members.flatMap { member in
                if member.name == "error", !member.value.isNull { return [member.value] }
                return inputErrors(in: member.value)
            }
        default: []
        }
    }
}

/// Values of the types of arguments.
private struct InputValues {
    let schema = GeneratedProbeTests.schema
    let shelf: Value
    let book: Value

    static func text(of type: TypeReference) -> String {
        if type.isNonNull { return text(of: type.nullable) + "!" }
        return type.listItem.map { "[\(text(of: $0))]" } ?? type.namedType
    }

    /// Returns the places in a value: the value itself, and for an input object the places in its fields.
    func paths(in type: TypeReference) -> [(names: [String], type: TypeReference)] {
        guard case .inputObject(let input) = schema.type(named: type.namedType)?.kind else {
            return [([], type)]
        }
        return [([], type)]
            + input.fields.flatMap { field in
                paths(in: field.type).map { ([field.name] + $0.names, $0.type) }
            }
    }

    func badValues(of type: TypeReference) -> [Value] {
        var values: [Value] = [.null, ["a": 1]]
        if case .list = type.nullable {
            let item = value(type.listItem ?? type, named: "", nil)
            values += [[], .list(Array(repeating: item, count: 1_001))]
        }
        switch type.namedType {
        case "String", "ISBN":
            values += [
                "", " ", "a\u{0}", "x", "9780306406158",
                .string(String(repeating: "x", count: 100_001)),
            ]
        case "ID": values += ["", "x", "0198c0de-0000-7000-8000-00000000dead"]
        case "Int": values += [-1, 0, 2_147_483_647, "x"]
        case "Float": values += [-1, 0.3, 1e9, "x"]
        case "PartialDate": values += ["", "2019-13", "2999-01-01", "1000"]
        case "DateTime": values += ["", "2999-01-01T00:00:00Z", "1999-01-01T00:00:00Z"]
        case "URI": values += ["", "x", "http://127.0.0.1/"]
        case "Boolean": values += [false]
        default:
            if case .enumeration(let names) = schema.type(named: type.namedType)?.kind {
                values += names.map { .string($0.name) }
            }
        }
        return values
    }

    /// Returns a value of a type that is probably right, except for the place `bad`.
    func value(
        _ type: TypeReference, named name: String, _ bad: (path: ArraySlice<String>, value: Value)?
    ) -> Value {
        if let bad, bad.path.isEmpty { return bad.value }
        if case .list = type.nullable {
            return [value(type.listItem ?? type, named: name, bad)]
        }
        switch schema.type(named: type.namedType)?.kind {
        case .enumeration(let values): return .string(values.first?.name ?? "")
        case .inputObject(let input):
            let members = input.fields.compactMap { field -> Value.Member? in
                if let bad, bad.path.first == field.name {
                    return .init(
                        field.name,
                        value(field.type, named: field.name, (bad.path.dropFirst(), bad.value)))
                }
                let isNeeded =
                    field.type.isNonNull && field.defaultValue == nil
                    || !input.isOneOf && field.name == "title"
                return isNeeded
                    ? .init(field.name, value(field.type, named: field.name, nil)) : nil
            }
            return .object(members)
        default: break
        }
        switch type.namedType {
        case "ID":
            let isShelf = ["to", "from", "moveTo"].contains(name) || name.hasPrefix("shel")
            return isShelf ? shelf : book
        case "Int": return 1
        case "Float": return 1.0
        case "Boolean": return true
        case "PartialDate": return "2026-01"
        case "DateTime": return "2026-01-31T12:00:00Z"
        case "URI": return "https://example.invalid/"
        default: return "x"
        }
    }
}
