import Basics

/// The parameters of a URL's query. See `FormFields` for the format.
package struct QueryString: Equatable {
    private let fields: FormFields

    package subscript(name: String) -> String? { fields[name] }

    /// - Throws: `.badRequest` with a message for the client's developer.
    package init(_ text: Substring) throws(HTTPProblem) {
        fields = try mappingError(HTTPProblem.init) { () throws(FormFields.Problem) in
            try FormFields(text.utf8)
        }
    }
}

extension HTTPProblem {
    fileprivate init(_ problem: FormFields.Problem) {
        self =
            switch problem {
            case .duplicate: .badRequest("The URL contains a parameter twice.")
            case .invalidEscape:
                .badRequest("The URL contains a % that is not followed by two hexadecimal digits.")
            case .notUTF8: .badRequest("A parameter of the URL is not UTF-8.")
            case .tooMany: .badRequest("The URL contains too many parameters.")
            }
    }
}
