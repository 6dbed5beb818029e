import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

@Suite struct SchemaTests {
    /// The printed schema is identical to the file.
    @Test func printedSchemaMatchesTheFile() throws {
        let file = try String(
            contentsOfFile: TestCluster.project + "/schema.graphql", encoding: .utf8)
        if BookplateSchema.text != file { Issue.record("the program was built from another file") }
        let printed = printSchema(try BookplateSchema(sdl: file).schema)
        guard printed != file else { return }
        Issue.record(
            """
            schema.graphql is not in printed form; BOOKPLATE_UPDATE_SNAPSHOTS=1 rewrites it:
            \(lineDifferences(from: file, to: printed))
            """)
        if getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil {
            try printed.write(
                toFile: TestCluster.project + "/schema.graphql", atomically: false, encoding: .utf8)
        }
    }

    /// Returns the lines of the schema that define a field, with its description.
    private static func removed(_ field: String) -> String {
        let sdl = BookplateSchema.text
        guard let end = sdl.range(of: "  \(field)\n"),
            let start = sdl[..<end.lowerBound].range(of: "\n\n", options: .backwards)
        else { return field }
        return String(sdl[start.upperBound..<end.upperBound])
    }

    /// Every type, field, argument, input field, and enum value has a description.
    @Test func everythingIsDescribed() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        var missing: [String] = []
        func check(_ name: String, _ description: String?) {
            if description?.isEmpty ?? true { missing.append(name) }
        }
        for type in schema.types
        where !type.name.hasPrefix("__")
            && !["ID", "String", "Int", "Float", "Boolean"].contains(type.name)
        {
            check(type.name, type.description)
            for field in type.fieldsType?.fields ?? [] {
                check("\(type.name).\(field.name)", field.description)
                for argument in field.arguments {
                    check(
                        "\(type.name).\(field.name)(\(argument.name))", argument.description)
                }
            }
            switch type.kind {
            case .inputObject(let input):
                for field in input.fields { check("\(type.name).\(field.name)", field.description) }
            case .enumeration(let values):
                for value in values { check("\(type.name).\(value.name)", value.description) }
            default: break
            }
        }
        #expect(missing == [])
    }

    /// Clients with generated code only know the codes of the enum.
    @Test func errorCodesAreValuesOfTheEnum() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        guard case .enumeration(let values) = schema.type(named: "ErrorCode")?.kind else {
            Issue.record("ErrorCode is not an enum")
            return
        }
        let errors: [BookplateError] = [
            .unauthenticated, .forbidden(""), .notFound(.noSuchBook),
            .badUserInput(field: "", .init(.empty)), .conflict(.init(.idTaken)),
            .rateLimited(retryAfterSeconds: 1), .payloadTooLarge(.init(.fileTooLarge)),
            .unsupportedImage(.init(.invalidImage)), .resetRequired(cursor: ""),
            .upstreamUnavailable(.init(.sourcesUnavailable)), .internalError,
            .quotaExceeded(.init(.guestBooks)), .serviceUnavailable(retryAfterSeconds: 1),
        ]
        #expect(Set(values.map(\.name)).isSuperset(of: errors.map(\.code)))
    }

    @Test func errorReasonsAreTheValuesOfTheEnum() throws {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        guard case .enumeration(let values) = schema.type(named: "ErrorReason")?.kind else {
            Issue.record("ErrorReason is not an enum")
            return
        }
        let reasons = ErrorReason.allCases.map(\.rawValue)
        #expect(values.map(\.name) == reasons + [ErrorReason.invalidRequest.value.string ?? ""])
    }

    @Test func everyFieldHasAResolver() throws {
        _ = try BookplateSchema(sdl: BookplateSchema.text)
    }

    @Test(arguments: [
        (
            "type Query {", "type Query {\n  invented: Int @scope",
            "The field Query.invented has no resolver."
        ),
        (
            removed("hook: String"), "", "The schema has no field FeedCard.hook."
        ),
        (
            removed(
                "exportLibrary: ExportLibraryPayload! @scope(name: LIBRARY_READ) @scope(name: PROGRESS) @scope(name: FEED) @scope(name: ACCOUNT)"
            ), "",
            "The schema has no field Mutation.exportLibrary."
        ),
    ])
    func fieldWithoutResolverOrSchemaIsReported(old: String, new: String, problem: String) {
        let sdl = BookplateSchema.text.replacing(old, with: new)
        let errors = #expect(throws: RequestErrors.self) { try BookplateSchema(sdl: sdl) }
        #expect(errors?.errors.map(\.message) == [problem])
    }
}
