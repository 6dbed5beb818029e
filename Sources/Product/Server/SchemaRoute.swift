import GraphQLNIO

/// The route `/schema.graphql`: the schema in SDL, for code generation.
///
/// Tools based on graphql-js 16 do not know the directive `@oneOf`. With `?oneOf=false` they get the schema without it. The
/// server still accepts only one field of such an input.
func schemaRoute(_ text: String) -> Route {
    func asset(_ text: String) -> Asset {
        Asset(Array(text.utf8), contentType: "text/plain; charset=utf-8")
    }
    let (complete, plain) = (asset(text), asset(text.replacing(" @oneOf {", with: " {")))
    return Route(.GET, "/schema.graphql") { request in
        do throws(HTTPProblem) {
            switch try QueryString(request.query ?? "")["oneOf"] {
            case nil, "true": return complete.response(to: request)
            case "false": return plain.response(to: request)
            default: throw .badRequest("The parameter `oneOf` must be true or false.")
            }
        } catch {
            return error.response()
        }
    }
}
