import GraphQL
import Testing

@testable import Bookplate

/// The scalar `DateTime` as https://scalars.graphql.org/chillicream/date-time.html specifies it.
@Suite struct DateTimeTests {
    private let schema: Schema

    init() throws { schema = try BookplateSchema(sdl: BookplateSchema.text).schema }

    /// The messages of the errors that the text causes as a literal and as a variable.
    private func errors(of text: String) async throws -> (literal: [String], variable: [String]) {
        let literal = validate(
            try parse(
                Source(
                    "mutation { undoSwipe(input: {cardId: \"1\", swipedAt: \"\(text)\"}) { card { id } } }"
                )),
            against: schema)
        let source = Source(
            "mutation($at: DateTime!) { undoSwipe(input: {cardId: \"1\", swipedAt: $at}) { card { id } } }"
        )
        guard case .operation(let operation)? = try parse(source).definitions.first else {
            throw RequestErrors([])
        }
        var variable: [GraphQLError] = []
        do {
            _ = try await coerceVariableValues(
                operation.variables, given: .object([.init("at", .string(text))]), schema: schema,
                source: source)
        } catch {
            variable = error.errors
        }
        return (literal.map(\.message), variable.map(\.message))
    }

    @Test(arguments: [
        "2026-01-31T12:00:00Z", "2026-01-31t12:00:00z", "2026-01-31T12:00:00+00:00",
        "2026-01-31T12:00:00-05:00", "2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00.123456Z",
        "2026-01-31T12:00:00.1234560+01:00", "2026-01-31T12:00:00.123456000Z",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
    ])
    func acceptsSpecifiedFormats(text: String) async throws {
        let errors = try await errors(of: text)
        #expect(errors.literal == [])
        #expect(errors.variable == [])
    }

    @Test(arguments: [
        "2026-01-31 12:00:00Z", "2026-01-31T12:00:60Z", "2016-12-31T23:59:60Z",
        "2026-01-31T12:00:00.1234567Z", "2026-01-31T12:00:00.123456789Z",
        "2026-01-31T12:00:00.0000000000Z", "2026-01-31T12:00:00", "2026-01-31",
        "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z", "2026-02-30T12:00:00Z",
        "2026-13-01T12:00:00Z", "2026-01-31T12:00:00+24:00", "2026-01-31T12:00:00 UTC", "",
    ])
    func rejectsOtherFormats(text: String) async throws {
        let reason =
            "DateTime cannot represent this value. Write an RFC 3339 date and time with an offset "
            + "and at most microseconds, such as 2026-01-31T12:00:00Z."
        let errors = try await errors(of: text)
        #expect(errors.literal.count == 1 && errors.literal[0].hasSuffix(reason), "\(errors)")
        #expect(errors.variable.count == 1 && errors.variable[0].hasSuffix(reason), "\(errors)")
    }
}
