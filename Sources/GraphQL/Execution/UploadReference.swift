/// How a file of a multipart request stands in the variables: by its place among the request's files.
///
/// Spec: https://github.com/jaydenseric/graphql-multipart-request-spec
public enum UploadReference {
    private static let prefix = "upload:"

    public static func value(_ index: Int) -> Value { .string(prefix + String(index)) }

    /// nil for what is no reference.
    public static func index(_ value: Value) -> Int? {
        guard let text = value.string, text.hasPrefix(prefix) else { return nil }
        return Int(text.dropFirst(prefix.count))
    }
}
