import Foundation
import Testing

@testable import BookplateClient

@Suite struct EventStreamTests {
    private static let stream = """
        : heartbeat

        event: next
        data: {"data":1}

        event:next\r
        data: first\r
        data: second\r
        \r
        id: 7

        event: complete


        """

    /// Parts may end anywhere, also between the two characters of a line's end.
    @Test(arguments: [1, 2, 3, 7, 1000]) func eventsDoNotDependOnTheParts(_ size: Int) {
        var parser = EventStreamParser()
        var events: [EventStreamParser.Event] = []
        let bytes = Array(Self.stream.utf8)
        for start in stride(from: 0, to: bytes.count, by: size) {
            events += parser.read(Data(bytes[start..<min(start + size, bytes.count)]))
        }
        #expect(
            events == [
                .init(name: "next", data: #"{"data":1}"#),
                .init(name: "next", data: "first\nsecond"),
                .init(name: "complete", data: ""),
            ])
    }
}
