import Basics
import TestBasics
import Testing

@testable import GraphQLPostgres

@Suite struct CursorTests {
    private static let order = RowOrder(
        name: "TEST",
        columns: [
            .init(Column("flag", .boolean)), .init(Column("title", .text)),
            .init(Column("at", .timestamp)),
            .init(Column("id", .uuid)),
        ], isDescending: false)

    private static func part(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
    }

    private static let name = part(Array("TEST".utf8))
    private static let flag = part([1])
    private static let title = part(Array("Émile".utf8))
    private static let time = part([0, 0, 0, 0, 0, 0, 0, 1])
    private static let id = part(Array(repeating: 7, count: 16))

    private static func error(_ bytes: [UInt8]) -> RowError? {
        error(Base64URL.encode(bytes))
    }

    private static func error(_ text: String) -> RowError? {
        do throws(RowError) {
            _ = try Cursor(text, of: order)
            return nil
        } catch {
            return error
        }
    }

    @Test func acceptsKeysOfItsOrder() {
        #expect(Self.error(Self.name + Self.flag + Self.title + Self.time + Self.id) == nil)
        #expect(Self.error(Self.name + Self.flag + Self.part([]) + Self.time + Self.id) == nil)
    }

    @Test func refusesInvalidKeys() {
        let valid = Self.name + Self.flag + Self.title + Self.time + Self.id
        for length in 0..<valid.count {
            #expect(Self.error(Array(valid[..<length])) == .invalidCursor(argument: "after"))
        }
        for bytes in [
            valid + [0], valid + Self.flag,
            // Keys of the wrong size, with invalid UTF-8, with a NUL, and out of range.
            Self.name + Self.part([]) + Self.title + Self.time + Self.id,
            Self.name + Self.flag + Self.part([0xFF]) + Self.time + Self.id,
            Self.name + Self.flag + Self.part([65, 0]) + Self.time + Self.id,
            Self.name + Self.flag + Self.title + Self.part([1]) + Self.id,
            Self.name + Self.flag + Self.title
                + Self.part([0x7F] + Array(repeating: 0xFF, count: 7))
                + Self.id,
            Self.name + Self.flag + Self.title + Self.time + Self.part([1]),
        ] {
            #expect(Self.error(bytes) == .invalidCursor(argument: "after"))
        }
    }

    @Test func refusesTheCursorOfAnotherOrder() {
        let valid = Self.name + Self.flag + Self.title + Self.time + Self.id
        let other = Self.part(Array("OTHER".utf8)) + valid.dropFirst(Self.name.count)
        #expect(Self.error(other) == .cursorOfOtherOrder(argument: "after"))
    }

    /// Random keys do not have the lengths of the columns.
    @Test func randomBytesAreInvalid() {
        var random = SeededGenerator(12)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(Self.error(Self.name + bytes) == .invalidCursor(argument: "after"))
        }
    }
}
