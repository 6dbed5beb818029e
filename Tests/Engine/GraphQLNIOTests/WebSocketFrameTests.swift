import EchoServer
import NIOCore
import SocketClient
import TestBasics
import Testing

@testable import GraphQLNIO

/// Tests of RFC 6455 over real connections. They cover the cases in which the Autobahn test suite checks a server.
///
/// Texts are `ping` messages of `graphql-transport-ws`, which the server returns as `pong` messages with the same
/// payload. Each case is sent at once, byte by byte, and in pieces that end within frames.
@Suite struct WebSocketFrameTests {
    typealias Frame = SocketClient.Frame

    /// The bytes that a client sends, and every frame that the server returns.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let sent: [UInt8]
        let received: [Frame]

        init(_ name: String, _ sent: [UInt8]..., received: [Frame]) {
            self.name = name
            self.sent = sent.flatMap { $0 }
            self.received = received
        }

        var testDescription: String { name }
    }

    private static let messageBytesMax = 70_000

    /// The port of one server for all cases, which runs until the process ends.
    private static let port = Task {
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        Task.detached {
            try await TestServer.run(bodyBytesMax: messageBytesMax) { server in
                started.yield(server.port)
                try await Task.sleep(for: .seconds(86_400))
            }
        }
        return await ports.first { _ in true } ?? 0
    }

    private static func run(_ test: Case) async throws {
        let port = await port.value
        try await onThread {
            for pieceBytes in [Int.max, 1, 7, 1021] where pieceBytes > test.sent.count / 3000 {
                let client = try SocketClient(port: port)
                var rest = test.sent[...]
                while !rest.isEmpty {
                    // After an error the server still reads input, so sending does not fail.
                    try client.send(Array(rest.prefix(pieceBytes)))
                    rest = rest.dropFirst(pieceBytes)
                }
                for frame in test.received {
                    #expect(try client.receiveWithoutReason() == frame, "pieces of \(pieceBytes)")
                }
            }
        }
    }

    // MARK: Frames

    private static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, isMasked: Bool = true,
        reserved: UInt8 = 0
    ) -> [UInt8] {
        var bytes = SocketClient.frame(opcode, payload, isFinal: isFinal, isMasked: isMasked)
        bytes[0] |= reserved << 4
        return bytes
    }

    private static func ping(_ payload: [UInt8]) -> [UInt8] { frame(0x9, payload) }

    private static func close(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] {
        frame(0x8, [UInt8(code >> 8), UInt8(code & 255)] + reason)
    }

    /// A `ping` message, which the server returns as a `pong` message.
    private static func message(_ text: [UInt8]) -> [UInt8] {
        Array(#"{"type":"ping","payload":{"t":""#.utf8) + text + Array(#""}}"#.utf8)
    }

    private static func echo(_ text: [UInt8]) -> Frame {
        .text(
            String(
                decoding: Array(#"{"type":"pong","payload":{"t":""#.utf8) + text
                    + Array(#""}}"#.utf8), as: UTF8.self))
    }

    /// Returns a text for a message of the given size.
    private static func filler(_ messageBytes: Int) -> [UInt8] {
        Array(repeating: UInt8(ascii: "x"), count: messageBytes - message([]).count)
    }

    /// Returns the response to `message(filler(messageBytes))`. A large message that is not an operation is refused when it has
    /// been read; 1009 would mean that it was too long to be read.
    private static func response(toMessageOf messageBytes: Int) -> [Frame] {
        messageBytes <= RequestJSON.shortBytesMax ? [echo(filler(messageBytes))] : failure(4400)
    }

    /// Returns the frames of one message, split after the given numbers of bytes.
    private static func fragments(_ message: [UInt8], at cuts: [Int]) -> [[UInt8]] {
        let ends = cuts + [message.count]
        return zip([0] + cuts, ends).enumerated().map { index, range in
            frame(
                index == 0 ? 0x1 : 0x0, Array(message[range.0..<range.1]),
                isFinal: index == ends.count - 1)
        }
    }

    private static func failure(_ code: Int) -> [Frame] { [.close(code: code, reason: ""), .end] }

    private static let hello = Array("hello".utf8)
    /// A message with its response, which shows that the connection still works.
    private static let works = (sent: frame(0x1, message(hello)), received: echo(hello))

    // MARK: Framing

    @Test(
        arguments: [125, 126, 127, 128, 32_768, 65_535, 65_536, messageBytesMax].map { count in
            Case(
                "a message of \(count) bytes", frame(0x1, message(filler(count))),
                received: response(toMessageOf: count))
        } + [
            Case(
                "several messages", works.sent, works.sent, works.sent,
                received: [works.received, works.received, works.received]),
            Case(
                "a text that is not a message", frame(0x1),
                received: [.close(code: 4400, reason: "")]),
            Case("a binary message", frame(0x2, [0, 1]), received: failure(4400)),
        ])
    func messagesOfEveryLengthAreRead(test: Case) async throws { try await Self.run(test) }

    /// Returns a header that announces a payload of this length.
    private static func header(_ first: UInt8, _ length: [UInt8]) -> [UInt8] {
        [first] + length + [1, 2, 3, 4]
    }

    @Test(arguments: [
        Case(
            "one byte too many", frame(0x1, message(filler(messageBytesMax + 1))),
            received: failure(1009)),
        Case(
            "an announced length of 2^62", header(0x81, [0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0]),
            received: failure(1009)),
        Case(
            "an announced length of 2^63", header(0x81, [0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            received: failure(1002)),
        Case("5 in two bytes", header(0x81, [0xFE, 0, 5]) + hello, received: failure(1002)),
        Case(
            "65,535 in eight bytes", header(0x81, [0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]),
            received: failure(1002)),
        Case(
            "fragments that are too large together",
            frame(0x1, message(filler(messageBytesMax)), isFinal: false), frame(0x0, [0x20]),
            received: failure(1009)),
        Case(
            "fragments of exactly the limit",
            fragments(message(filler(messageBytesMax)), at: [100, 60_000]).flatMap { $0 },
            received: response(toMessageOf: messageBytesMax)),
        Case(
            "many fragments",
            fragments(message(filler(5000)), at: Array(1..<5000)).flatMap { $0 },
            received: [echo(filler(5000))]),
        Case(
            "empty fragments",
            frame(0x1, isFinal: false),
            Array((0..<2000).map { _ in frame(0x0, isFinal: false) }.joined()),
            frame(0x0, message(hello)), received: [echo(hello)]),
    ])
    func lengthsAreLimited(test: Case) async throws { try await Self.run(test) }

    @Test(
        arguments: [(0x1, message(hello)), (0x9, hello), (0x8, [0x03, 0xE8])].map {
            (opcode: UInt8, payload: [UInt8]) in
            Case(
                "opcode \(opcode) without a mask", frame(opcode, payload, isMasked: false),
                received: failure(1002))
        })
    func framesMustBeMasked(test: Case) async throws { try await Self.run(test) }

    // MARK: Pings and pongs

    @Test(arguments: [
        Case("an empty ping", ping([]), received: [.pong("")]),
        Case("a ping with text", ping(hello), received: [.pong("hello")]),
        Case(
            "a ping with bytes that are not UTF-8", ping([0, 0xFF, 0xFE, 0x80]),
            received: [.pong("\0\u{FFFD}\u{FFFD}\u{FFFD}")]),
        Case(
            "a ping of 125 bytes", ping(Array(repeating: 0x2A, count: 125)),
            received: [.pong(String(repeating: "*", count: 125))]),
        Case(
            "a ping of 126 bytes", ping(Array(repeating: 0x2A, count: 126)),
            received: failure(1002)),
        Case(
            "a pong of 126 bytes", frame(0xA, Array(repeating: 0, count: 126)),
            received: failure(1002)),
        Case(
            "a ping of 70,001 bytes", ping(Array(repeating: 0, count: 70_001)),
            received: failure(1002)),
        Case(
            "unsolicited pongs", frame(0xA), frame(0xA, hello), ping([0x31]),
            received: [.pong("1")]),
        Case(
            "ten pings", Array((0..<10).map { ping([0x30 + $0]) }.joined()),
            received: (0..<10).map { .pong("\($0)") }),
        Case("a ping in fragments", frame(0x9, hello, isFinal: false), received: failure(1002)),
        Case("a pong in fragments", frame(0xA, isFinal: false), received: failure(1002)),
        Case(
            "pings between fragments",
            frame(0x1, Array(message(hello).prefix(9)), isFinal: false), ping([0x31]), ping([0x32]),
            frame(0x0, Array(message(hello).dropFirst(9).prefix(3)), isFinal: false),
            frame(0xA, hello), ping([]), frame(0x0, Array(message(hello).dropFirst(12))),
            received: [.pong("1"), .pong("2"), .pong(""), echo(hello)]),
    ])
    func pingsAreAnswered(test: Case) async throws { try await Self.run(test) }

    // MARK: Reserved bits and opcodes

    @Test(
        arguments: (1...7).flatMap { (bits: UInt8) in
            [(0x1, message(hello)), (0x9, hello), (0xA, []), (0x8, [0x03, 0xE8])].map {
                (opcode: UInt8, payload: [UInt8]) in
                Case(
                    "bits \(bits) on opcode \(opcode)", works.sent,
                    frame(opcode, payload, reserved: bits), works.sent,
                    received: [works.received] + failure(1002))
            }
        } + [
            Case(
                "bits on a continuation", frame(0x1, hello, isFinal: false),
                frame(0x0, hello, reserved: 4), received: failure(1002))
        ])
    func reservedBitsFailTheConnection(test: Case) async throws { try await Self.run(test) }

    @Test(
        arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap { (opcode: UInt8) in
            [
                Case(
                    "opcode \(opcode)", works.sent, frame(opcode), works.sent,
                    received: [works.received] + failure(1002)),
                Case(
                    "opcode \(opcode) with a payload", frame(opcode, hello), received: failure(1002)
                ),
                Case(
                    "opcode \(opcode) between fragments", frame(0x1, hello, isFinal: false),
                    frame(opcode, hello), received: failure(1002)),
            ]
        })
    func reservedOpcodesFailTheConnection(test: Case) async throws { try await Self.run(test) }

    // MARK: Fragments

    @Test(arguments: [
        Case(
            "two fragments", fragments(message(hello), at: [5]).flatMap { $0 },
            received: [echo(hello)]),
        Case(
            "a fragment for each byte",
            fragments(message(hello), at: Array(1..<message(hello).count)).flatMap { $0 },
            received: [echo(hello)]),
        Case(
            "two messages in fragments", fragments(message(hello), at: [5]).flatMap { $0 },
            fragments(message(hello), at: [1, 2]).flatMap { $0 },
            received: [echo(hello), echo(hello)]),
        Case("a continuation of nothing", frame(0x0, hello), received: failure(1002)),
        Case(
            "a continuation of nothing that goes on", frame(0x0, hello, isFinal: false),
            received: failure(1002)),
        Case(
            "a continuation after a message", works.sent, frame(0x0, hello),
            received: [works.received] + failure(1002)),
        Case(
            "a continuation after a message in fragments",
            fragments(message(hello), at: [5]).flatMap { $0 }, frame(0x0),
            received: [echo(hello)] + failure(1002)),
        Case(
            "a text within a message", frame(0x1, hello, isFinal: false), works.sent,
            received: failure(1002)),
        Case(
            "a fragment of a text within a message", frame(0x1, hello, isFinal: false),
            frame(0x1, hello, isFinal: false), received: failure(1002)),
        Case(
            "a binary frame within a message", frame(0x1, hello, isFinal: false), frame(0x2, hello),
            received: failure(1002)),
        Case(
            "a message that never ends", works.sent, frame(0x1, hello, isFinal: false), ping(hello),
            received: [works.received, .pong("hello")]),
    ])
    func fragmentsFormOneMessage(test: Case) async throws { try await Self.run(test) }

    // MARK: UTF-8

    /// Characters of one to four bytes, and the first and last of each length.
    private static let texts = [
        "κόσμε", "日本語", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}",
        "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}", "aé€😀z",
    ]

    @Test(
        arguments: texts.flatMap { text in
            let text = Array(text.utf8)
            let whole = message(text)
            let start = message([]).count - 3
            return [Case("\(text)", frame(0x1, whole), received: [echo(text)])]
                + (0...text.count).map { cut in
                    Case(
                        "\(text) cut after byte \(cut)",
                        fragments(whole, at: [start + cut]).flatMap { $0 }, received: [echo(text)])
                }
        })
    func textMaySplitCharactersAcrossFragments(test: Case) async throws { try await Self.run(test) }

    private static let notUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41],
        [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x82, 0x41],
        [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
        [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
        [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        Array("κόσμε".utf8) + [0xED, 0xA0, 0x80] + Array("edited".utf8),
    ]

    @Test(
        arguments: notUTF8.flatMap { text in
            let name = text.map { String($0, radix: 16) }.joined(separator: " ")
            return [
                Case("\(name) in a message", frame(0x1, message(text)), received: failure(1007)),
                Case(
                    "\(name) alone", works.sent, frame(0x1, text),
                    received: [works.received] + failure(1007)),
                Case(
                    "\(name) across fragments",
                    fragments(message(text), at: [message([]).count - 3 + text.count / 2])
                        .flatMap { $0 },
                    received: failure(1007)),
            ]
        } + [
            Case(
                "a character that is not finished at the end of a message",
                frame(0x1, [0x20, 0xE2], isFinal: false), frame(0x0, [0x82], isFinal: false),
                frame(0x0),
                received: failure(1007)),
            Case(
                "bytes that are not UTF-8 with any next fragment",
                frame(0x1, [0xCE, 0xBA, 0xF4, 0x90], isFinal: false), received: failure(1007)),
        ])
    func textThatIsNotUTF8FailsTheConnection(test: Case) async throws { try await Self.run(test) }

    // MARK: CloseFrame

    private static func closed(_ code: Int) -> [Frame] { [.close(code: code, reason: ""), .end] }

    @Test(
        arguments: [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
            4000, 4999,
        ]
        .map { (code: UInt16) in
            Case("code \(code)", close(code), received: closed(Int(code)))
        } + [
            Case("no body", frame(0x8), received: [.close(code: 0, reason: ""), .end]),
            Case("a reason", close(1000, hello), received: closed(1000)),
            Case(
                "a reason of 123 bytes", close(1000, Array(repeating: 0x2A, count: 123)),
                received: closed(1000)),
            Case("a reason in UTF-8", close(1001, Array("κόσμε".utf8)), received: closed(1001)),
            Case(
                "within a message", frame(0x1, hello, isFinal: false), close(1000),
                received: closed(1000)),
            Case(
                "after a message", works.sent, close(1000),
                received: [works.received] + closed(1000)),
        ])
    func aCloseFrameIsReturned(test: Case) async throws { try await Self.run(test) }

    /// The frames are sent together, because the server closes the connection after the closing handshake, and then
    /// sending fails.
    @Test func framesAfterACloseFrameAreIgnored() async throws {
        let port = await Self.port.value
        try await onThread {
            let client = try SocketClient(port: port)
            try client.send(
                Self.close(1000) + Self.ping(Self.hello) + Self.works.sent + Self.close(1001))
            for frame in Self.closed(1000) {
                #expect(try client.receiveWithoutReason() == frame)
            }
        }
    }

    @Test(
        arguments: [
            0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535,
        ].map { (code: UInt16) in
            Case("code \(code)", close(code), received: failure(1002))
        } + [
            Case("a body of one byte", frame(0x8, [0x03]), received: failure(1002)),
            Case(
                "a reason of 124 bytes", close(1000, Array(repeating: 0x2A, count: 124)),
                received: failure(1002)),
            Case(
                "in fragments", frame(0x8, [0x03, 0xE8], isFinal: false), received: failure(1002)),
            Case("a reserved code with a reason", close(1005, hello), received: failure(1002)),
        ]
            + notUTF8.map { reason in
                Case(
                    "the reason \(reason.map { String($0, radix: 16) }.joined(separator: " "))",
                    close(1000, reason), received: failure(1007))
            })
    func anInvalidCloseFrameFailsTheConnection(test: Case) async throws {
        try await Self.run(test)
    }
}

extension SocketClient {
    /// Returns the next frame. The reason of a close frame is removed, because its text is not part of the protocol.
    fileprivate func receiveWithoutReason() throws -> Frame {
        let frame = try receive()
        if case .close(let code, _) = frame { return .close(code: code, reason: "") }
        return frame
    }
}

/// The frame reader, without a connection.
@Suite struct MessageReaderTests {
    private static func read(_ pieces: [[UInt8]]) -> [String] {
        var reader = MessageReader(messageBytesMax: 1000)
        var found: [String] = []
        do throws(CloseFrame) {
            for piece in pieces {
                reader.append(ByteBuffer(bytes: piece))
                while let message = try reader.next() { found.append("\(message)") }
            }
        } catch {
            found.append("\(error.code)")
        }
        return found
    }

    /// Valid and damaged frames are read in the same way in whatever pieces they arrive.
    @Test(arguments: 1...4)
    func parsingDoesNotDependOnPieces(seed: UInt64) {
        var random = SeededGenerator(seed)
        for _ in 0..<500 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let opcodes: [UInt8] = [0x0, 0x1, 0x1, 0x8, 0x9, 0xA]
                let opcode = opcodes.randomElement(using: &random) ?? 0x1
                let text = Array("aé€😀".utf8.prefix(Int.random(in: 0...10, using: &random)))
                bytes += SocketClient.frame(
                    opcode, opcode == 0x8 ? [0x03, 0xE8] + text : text,
                    isFinal: opcode >= 0x8 || .random(using: &random))
            }
            if Bool.random(using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                bytes[position] = .random(in: 0...255, using: &random)
            }
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let whole = Self.read([bytes])
            #expect(Self.read(bytes.map { [$0] }) == whole)
            #expect(Self.read([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole)
        }
    }

    @Test func headerErrorsAreDetectedBeforeThePayloadArrives() {
        var reader = MessageReader(messageBytesMax: 1000)
        reader.append(ByteBuffer(bytes: [0x81, 0xFE, 0x03, 0xE9]))
        let error = #expect(throws: CloseFrame.self) { try reader.next() }
        #expect(error?.code == .messageTooBig)
    }

    @Test func noMemoryIsUsedBetweenMessages() throws {
        var reader = MessageReader(messageBytesMax: 1000)
        reader.append(ByteBuffer(bytes: SocketClient.frame(0x1, Array("hello".utf8))))
        #expect(try reader.next() == .text(Array("hello".utf8)))
        #expect(try reader.next() == nil)
        #expect(reader.bufferedBytes == 0)
    }
}
