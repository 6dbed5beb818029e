/// The headers of a request. They are an object because they have many fields, and requests are copied often.
final class StoredHeaders: Sendable {
    let value: RequestHeaders

    init(_ value: consuming RequestHeaders) { self.value = value }
}
