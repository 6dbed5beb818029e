import GraphQL

/// The representation of a file of a multipart request in the variables: a string with the index of
/// the file.
///
/// Spec: https://github.com/jaydenseric/graphql-multipart-request-spec
package enum UploadReference {
    private static let prefix = "upload:"

    package static func value(_ index: Int) -> Value { .string(prefix + String(index)) }

    /// Returns the index of the file, or nil if the value is not a reference.
    package static func index(_ value: Value) -> Int? {
        guard let text = value.string, text.hasPrefix(prefix) else { return nil }
        return Int(text.dropFirst(prefix.count))
    }
}
