import Basics
import GraphQLNIO
import GraphQLServing
import NIOCore
import ObjectStorage

/// Reads and writes the objects behind image URLs. There is one instance per event loop, called on that loop.
package protocol ObjectService: AnyObject {
    /// Opens a file on this machine without waiting; nil if there is none. Its name is usually cached in memory.
    func openNow(_ path: ObjectPath) -> OpenObject?

    /// Returns the content of an object that is not on this machine; nil if there is none.
    func open(
        _ path: ObjectPath, for client: ClientAddress?, requestID: String
    ) async throws(HTTPProblem) -> ObjectContent?

    /// Returns the version that a URL without a version shows now; nil if there is no such object, or if another version was
    /// requested.
    ///
    /// - Parameter requested: The version in the URL; nil for a URL without a version.
    func currentVersion(
        of key: ObjectKey, requested: String?, requestID: String
    ) async throws(HTTPProblem) -> String?

    /// Returns the id of the token's user; nil for an invalid token.
    func user(of bearerToken: String, requestID: String) -> String?

    /// Stores the body as an object of the token's user.
    func put(
        _ body: StoredBytes, of key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem) -> PutObject

    /// Removes an object of the token's user. Removing an object that does not exist succeeds.
    func delete(
        _ key: ObjectKey, bearerToken: String, requestID: String
    ) async throws(HTTPProblem)
}

/// The result of storing an object.
package struct PutObject: Sendable {
    /// The public URL.
    package var url: String
    /// Whether the object did not exist before.
    package var isNew: Bool

    package init(url: String, isNew: Bool) {
        self.url = url
        self.isNew = isNew
    }
}
