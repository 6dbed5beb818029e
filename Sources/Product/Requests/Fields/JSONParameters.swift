import GraphQL
import Postgres

extension Parameters {
    /// Appends a value as a JSON document of the type `jsonb`.
    package mutating func append(jsonb value: Value) {
        var writer = ResponseWriter()
        writer.write(value)
        append(jsonb: writer.bytes)
    }
}
