import GraphQL
import Telemetry

/// The description of this process in exported traces, and the encoding of spans.
///
/// Spec: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
struct OTLPResource {
    private let attributes: Value

    init(version: String, environment: String, instance: String) {
        attributes = Self.attributes([
            ("service.name", .text("bookplate")), ("service.version", .text(version)),
            ("service.instance.id", .text(instance)),
            ("deployment.environment.name", .text(environment)),
        ])
    }

    /// Returns an ExportTraceServiceRequest in the JSON encoding: IDs are hexadecimal, and 64-bit integers are strings.
    func json(_ spans: [TraceSpan]) -> [UInt8] {
        let scopeSpans = Value.object([
            .init("scope", .object([.init("name", .string("bookplate"))])),
            .init("spans", .list(spans.map(Self.value))),
        ])
        let resourceSpans = Value.object([
            .init("resource", .object([.init("attributes", attributes)])),
            .init("scopeSpans", .list([scopeSpans])),
        ])
        var writer = ResponseWriter()
        writer.write(Value.object([.init("resourceSpans", .list([resourceSpans]))]))
        return writer.bytes
    }

    private static func value(_ span: TraceSpan) -> Value {
        var members: [Value.Member] = [
            .init("traceId", .string(span.traceID)), .init("spanId", .string(span.id)),
        ]
        if let parentID = span.parentID { members.append(.init("parentSpanId", .string(parentID))) }
        members += [
            .init("name", .string(span.name)),
            // SPAN_KIND_SERVER
            .init("kind", .int(2)),
            .init("startTimeUnixNano", .string("\(span.start)")),
            .init("endTimeUnixNano", .string("\(span.end)")),
            .init("attributes", attributes(span.attributes)),
        ]
        if span.hasFailed {
            // STATUS_CODE_ERROR
            members.append(.init("status", .object([.init("code", .int(2))])))
        }
        return .object(members)
    }

    private static func attributes(
        _ attributes: [(name: String, value: TraceSpan.AttributeValue)]
    ) -> Value {
        .list(
            attributes.map { name, value in
                let member: Value.Member
                switch value {
                case .text(let text): member = .init("stringValue", .string(text))
                case .number(let number): member = .init("intValue", .string("\(number)"))
                }
                return .object([.init("key", .string(name)), .init("value", .object([member]))])
            })
    }
}
