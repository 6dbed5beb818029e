import BookSources
import Postgres

/// An external source's data of authors, cut to the limits of the catalog.
package struct AuthorFacts {
    private let records: [AuthorRecord]

    private static let nameCharactersMax = 500

    package init(_ records: [AuthorRecord]) {
        self.records = records.filter { record in
            let name = record.name.unicodeScalars
            return !name.isEmpty && name.count <= Self.nameCharactersMax && !name.contains("\0")
        }
    }

    /// The parameters of the SQL function `save_authors`.
    package var parameters: Parameters {
        var parameters = Parameters()
        append(to: &parameters)
        parameters.appendArray(of: .bool) { elements in
            for record in records { elements.append(bool: record.isComplete) }
        }
        return parameters
    }

    /// Appends the names, keys, and biographies.
    package func append(to parameters: inout Parameters) {
        parameters.append(texts: records.map(\.name))
        parameters.appendArray(of: .text) { elements in
            for record in records {
                let key = record.key.flatMap {
                    $0.wholeMatch(of: /OL[0-9]{1,15}A/) != nil ? $0 : nil
                }
                elements.append(text: key)
            }
        }
        parameters.appendArray(of: .text) { elements in
            for record in records { elements.append(text: record.bio) }
        }
    }
}
