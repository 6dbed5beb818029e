import Foundation
import Testing

/// Tests that `graphql-tool batch` responds to invalid requests and continues with the next one.
@Suite struct BatchTests {
    static let validRequest = #"{"id":7,"op":"print","source":"{a}"}"#
    static let validResponse = #"{"id":7,"text":"{\n  a\n}"}"#

    @Test(
        arguments: [
            ("nope", "null", "JSON has an unexpected character at byte 1."),
            ("[1]", "null", "The request must be a JSON object."),
            ("{}", "null", #"The member \"op\" of the request must be a string."#),
            (#"{"id":1,"op":2}"#, "1", #"The member \"op\" of the request must be a string."#),
            (
                #"{"id":"a","op":"no"}"#, #""a""#,
                #"Unknown op \"no\": use parse, print, validate, introspect, or execute."#
            ),
            (
                #"{"id":[1],"op":"parse"}"#, "[1]",
                #"The member \"source\" of the request must be a string."#
            ),
            (
                #"{"op":"validate","source":"{a}"}"#, "null",
                #"The member \"schema\" of the request must be a string."#
            ),
            (
                #"{"op":"execute","schema":"type Query{a:Int}","source":"{a}","variables":[1]}"#,
                "null", #"The member \"variables\" of the request must be an object."#
            ),
            (
                #"{"op":"execute","schema":"type Query{a:Int}","source":"{a}","operationName":1}"#,
                "null", #"The member \"operationName\" of the request must be a string."#
            ),
            (
                #"{"op":"print","source":"{a}","source":"{b}"}"#, "null",
                #"JSON has the member \"source\" twice in one object at byte 29."#
            ),
        ])
    func reportsInvalidRequests(line: String, id: String, message: String) throws {
        let (lines, status) = try runBatch(to: Array("\(line)\r\n\n \n\(Self.validRequest)".utf8))
        #expect(status == 0)
        #expect(
            lines == [
                #"{"id":\#(id),"errors":[{"message":"\#(message)","locations":[]}]}"#,
                Self.validResponse,
            ])
    }

    /// A read error is not treated as the end of the input.
    @Test func reportsReadErrors() throws {
        let tool = Process()
        tool.executableURL = graphQLTool
        tool.arguments = ["batch"]
        let errors = Pipe()
        tool.standardInput = try FileHandle(forReadingFrom: URL(filePath: "/"))
        tool.standardError = errors
        try tool.run()
        let errorOutput = String(
            decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        tool.waitUntilExit()
        #expect(errorOutput == "graphql-tool: cannot read standard input: Is a directory\n")
        #expect(tool.terminationStatus == 1)
    }

    /// Invalid UTF-8 is rejected instead of being repaired, which would change its meaning.
    @Test func rejectsInvalidUTF8() throws {
        let line =
            Array(#"{"op":"print","source":"{a}"#.utf8) + [0xFF, 0x0A]
            + Array(Self.validRequest.utf8)
        let (lines, status) = try runBatch(to: line)
        #expect(status == 0)
        #expect(
            lines == [
                #"{"id":null,"errors":[{"message":"JSON is not valid UTF-8 at byte 27.","locations":[]}]}"#,
                Self.validResponse,
            ])
    }

    @Test func acceptsLongLines() throws {
        let fields = String(repeating: "a ", count: 200_000)
        let line = #"{"op":"validate","schema":"type Query{a:Int}","source":"{\#(fields)}"}"#
        let (lines, status) = try runBatch(to: Array("\(line)\n\(Self.validRequest)\n".utf8))
        #expect(status == 0)
        #expect(lines == [#"{"id":null,"errors":[]}"#, Self.validResponse])
    }

    @Test func reportsAllExecutionErrors() throws {
        let items = Array(repeating: #"{"$error":"No."}"#, count: 250).joined(separator: ",")
        let line = #"""
            {"op":"execute","schema":"type Query{a:[Int]}","source":"{a}","root":{"a":[\#(items)]}}
            """#
        let response = try #require(try runBatch(to: Array(line.utf8)).lines.first)
        #expect(response.components(separatedBy: #""message":"No.""#).count == 251)
        #expect(response.contains(#""path":["a",249]"#))
    }
}
