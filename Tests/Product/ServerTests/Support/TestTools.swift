import GraphQL
import GraphQLServing

/// A service of tools in memory: `echo` returns its arguments, `bytes` the size of the message, and `fail` an error.
final class TestTools: ToolService {
    static let token = "bp_test"

    func authenticate(_ caller: ToolCaller) async throws(ToolRefusal) {
        switch caller.bearerToken {
        case Self.token: return
        case "forbidden": throw .forbidden("Tools are off.")
        case "busy": throw .rateLimited(retryAfterSeconds: 7)
        case "down": throw .unavailable(retryAfterSeconds: 2)
        case "broken": throw .internalError
        default: throw .unauthenticated
        }
    }

    func tools(
        for caller: ToolCaller, after cursor: String?
    ) async throws(ToolRefusal) -> ToolPage {
        try await authenticate(caller)
        switch cursor {
        case nil: return ToolPage(tools: [Array(#"{"name":"echo"}"#.utf8)], next: "2")
        case "2": return ToolPage(tools: [Array(#"{"name":"fail"}"#.utf8)], next: nil)
        default: throw .invalidCursor
        }
    }

    func call(
        _ tool: String, _ arguments: Value, for caller: ToolCaller
    ) async throws(ToolRefusal) -> GraphQLResponse? {
        try await authenticate(caller)
        switch tool {
        case "echo":
            var writer = ResponseWriter()
            writer.write(Value.object([.init("data", arguments)]))
            return GraphQLResponse(body: writer.bytes)
        case "bytes":
            return GraphQLResponse(
                body: Array(#"{"data":{"bytes":\#(caller.bodyByteCount)}}"#.utf8))
        case "fail":
            return GraphQLResponse(
                body: Array(#"{"errors":[{"message":"It \"failed\"."}],"data":null}"#.utf8))
        default: return nil
        }
    }
}
