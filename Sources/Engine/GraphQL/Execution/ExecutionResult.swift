/// The response of an executed operation.
public struct ExecutionResult: Sendable {
    /// The whole response as JSON: `{"errors": …, "data": …}`.
    public let body: [UInt8]
    /// The errors of fields, in the order in which they occurred.
    public let errors: [GraphQLError]
    /// The offset in `body` of the value of `data`, which is the last member of a whole response.
    private let dataStart: Int
    /// The offset in `body` after the value of `data`, if other members follow it.
    private let dataEnd: Int?

    /// Creates a result from a complete response.
    ///
    /// - Parameters:
    ///   - body: The response as JSON.
    ///   - errors: The errors in it.
    ///   - dataStart: The offset in `body` of the value of `data`.
    public init(body: [UInt8], errors: [GraphQLError], dataStart: Int = 8) {
        self.body = body
        self.errors = errors
        self.dataStart = dataStart
        dataEnd = nil
    }

    /// Creates a response after the first of several. It has no `data`.
    init(update body: [UInt8], errors: [GraphQLError]) {
        self.body = body
        self.errors = errors
        dataStart = 0
        dataEnd = 0
    }

    /// Appends members to the response. `data` stays the same.
    ///
    /// - Parameter members: JSON such as `,"hasNext":true}`, which replaces the closing brace.
    init(_ result: ExecutionResult, appending members: [UInt8]) {
        body = result.body.dropLast() + members
        errors = result.errors
        dataStart = result.dataStart
        dataEnd = result.body.count - 1
    }

    /// The value of `data` as JSON.
    public var data: ArraySlice<UInt8> { body[dataStart..<(dataEnd ?? body.count - 1)] }
}
