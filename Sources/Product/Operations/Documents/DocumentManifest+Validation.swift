import Bookplate
import GraphQL
import Requests

extension DocumentManifest {
    /// Validates each document with the product's schema, in the same way as a server does before it executes one.
    ///
    /// - Parameter allowsIntrospection: Whether the servers allow introspection.
    /// - Returns: One message for each document that the server would reject.
    package func problems(allowsIntrospection: Bool) throws(RequestErrors) -> [String] {
        let schema = try BookplateSchema(sdl: BookplateSchema.text).schema
        var options = ValidationOptions(allowsIntrospection: allowsIntrospection)
        options.hasSuggestions = true
        return problems(with: schema, options: options)
    }
}
