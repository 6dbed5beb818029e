/// A difference between two versions of a schema.
public struct SchemaChange: Hashable, Sendable {
    /// What a change does to clients that were written for the older version.
    public enum Severity: String, Sendable, CaseIterable {
        /// Their operations can become invalid, or get what they cannot take.
        case breaking
        /// Their operations stay valid, but may get values they do not know or mean something else.
        case dangerous
        case safe
    }

    public let severity: Severity
    /// The element that changed: of the older schema where it was removed, of the newer one otherwise.
    public let coordinate: SchemaCoordinate
    /// A sentence for a person.
    public let message: String
}
