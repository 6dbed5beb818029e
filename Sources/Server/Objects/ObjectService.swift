import NIOCore
import Objects

/// What is behind the plain addresses of pictures; one value per event loop, called on that loop.
package protocol ObjectService: AnyObject {
    /// Opens a file, at once: its name is looked up in memory as a rule.
    func open(_ path: ObjectPath) -> OpenObject?

    /// The version that an address without one shows now; nil where there is nothing.
    func currentVersion(
        of key: ObjectKey, requestID: String
    ) async throws(HTTPProblem) -> String?

    /// The id of the user that a token is of, as text; nil for one that is not good.
    func user(of bearerToken: String, requestID: String) -> String?

    /// Makes the body the object of the token's user.
    func put(
        _ body: ByteBuffer, of key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) -> PutObject

    /// Removes the object of the token's user; also where there is none.
    func delete(
        _ key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem)
}

/// An object that was put.
package struct PutObject: Sendable {
    /// Its public address.
    package var url: String
    /// Whether there was none before.
    package var isNew: Bool

    package init(url: String, isNew: Bool) {
        self.url = url
        self.isNew = isNew
    }
}
