extension ExecutionResult {
    /// The response in place of one that is too large.
    static func tooLarge(bytesMax: Int, _ codes: ErrorCodes) -> ExecutionResult {
        .failed(GraphQLError.responseTooLarge(bytesMax: bytesMax).coded(by: codes))
    }

    /// A response whose `data` is null because of an error.
    static func failed(_ error: GraphQLError) -> ExecutionResult {
        var writer = ResponseWriter()
        writer.append("{\"errors\":")
        writer.write([error])
        writer.append(",\"data\":")
        let dataStart = writer.count
        writer.append("null}")
        return ExecutionResult(body: writer.bytes, errors: [error], dataStart: dataStart)
    }
}

extension GraphQLError {
    /// The error that replaces a response above the size limit.
    package static func responseTooLarge(bytesMax: Int) -> GraphQLError {
        GraphQLError(
            "The response is larger than \(bytesMax) bytes. Select fewer fields or request smaller pages.",
            kind: .responseTooLarge,
            extensions: ExceededLimit(name: "responseBytesMax", max: bytesMax).extensions)
    }

    /// The error that replaces a response with too many execution errors.
    static func tooManyErrors(max: Int) -> GraphQLError {
        GraphQLError(
            "More than \(max) fields have failed. Select fewer fields or request smaller pages.",
            kind: .responseTooLarge,
            extensions: ExceededLimit(name: "errorsMax", max: max).extensions)
    }

    /// The last error of a response that lacks further ones. It has no path.
    static func omittedErrors(_ count: Int, max: Int) -> GraphQLError {
        GraphQLError(
            "\(count) more \(count == 1 ? "error is" : "errors are") left out, so a null without an error may have failed.",
            kind: .responseTooLarge,
            extensions: ExceededLimit(name: "errorsMax", max: max).extensions
                + [.init("omitted", .int(count))])
    }
}

extension RequestErrors {
    /// The whole response as JSON: `{"errors": …}`. There is no `data`, because nothing was
    /// executed.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Request-Error-Result
    public var body: [UInt8] {
        var writer = ResponseWriter()
        writer.append("{\"errors\":")
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return writer.bytes
    }
}

extension ResponseWriter {
    /// Writes a list of errors as JSON.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Errors
    public mutating func write(_ errors: [GraphQLError]) {
        append(UInt8(ascii: "["))
        for (index, error) in errors.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            write(error)
        }
        append(UInt8(ascii: "]"))
    }

    /// Writes an error as a JSON object.
    public mutating func write(_ error: GraphQLError) {
        append("{\"message\":")
        write(error.message)
        if !error.locations.isEmpty {
            append(",\"locations\":[")
            for (index, location) in error.locations.enumerated() {
                append(index > 0 ? ",{\"line\":" : "{\"line\":")
                write(location.line)
                append(",\"column\":")
                write(location.column)
                append(UInt8(ascii: "}"))
            }
            append(UInt8(ascii: "]"))
        }
        if let path = error.path {
            append(",\"path\":")
            write(path)
        }
        if !error.extensions.isEmpty {
            append(",\"extensions\":")
            write(.object(error.extensions))
        }
        append(UInt8(ascii: "}"))
    }
}
