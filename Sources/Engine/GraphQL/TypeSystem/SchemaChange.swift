/// A difference between two versions of a schema.
package struct SchemaChange: Hashable, Sendable {
    /// The effect of a change on clients that were written for the older version.
    package enum Severity: String, Sendable, CaseIterable {
        /// Operations of clients can become invalid, or their responses can contain values that
        /// clients cannot handle.
        case breaking
        /// Operations of clients stay valid, but responses can contain values that clients do not
        /// know, or the meaning of an operation can change.
        case dangerous
        case safe
    }

    package let severity: Severity
    /// The changed element: of the older schema if it was removed, otherwise of the newer schema.
    package let coordinate: SchemaCoordinate
    /// A complete sentence for people.
    package let message: String
}
