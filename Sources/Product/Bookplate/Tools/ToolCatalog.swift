import GraphQL
import Synchronization

/// The tools of trusted documents. Each is computed once; all event loops share them.
package final class ToolCatalog: Sendable {
    private struct Cache {
        /// By the hashes of the documents. The value is nil if tools cannot run the document.
        var tools: [String: Tool?] = [:]
        var bytesCount = 0
    }

    /// A full cache is cleared.
    private static let countMax = 5_000
    private static let bytesMax = 32 << 20

    private let schema: BookplateSchema
    private let limits: RequestLimits
    private let cache = Mutex(Cache())

    /// - Parameter limits: The limits of the documents that the server executes.
    package init(_ schema: BookplateSchema, limits: RequestLimits) {
        self.schema = schema
        self.limits = limits
    }

    /// Returns the tool of a document; nil if tools cannot run it.
    ///
    /// - Parameter sha256: The hash of the document's text.
    func tool(of text: String, sha256: String) async -> Tool? {
        if let known = cache.withLock({ $0.tools[sha256] }) { return known }
        let tool = await schema.tool(ofDocument: Array(text.utf8), limits: limits)
        cache.withLock { cache in
            let bytes = tool?.json.count ?? 0
            if cache.tools.count >= Self.countMax || cache.bytesCount + bytes > Self.bytesMax {
                cache = Cache()
            }
            if cache.tools.updateValue(tool, forKey: sha256) == nil { cache.bytesCount += bytes }
        }
        return tool
    }
}
