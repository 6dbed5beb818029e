import BookSources
import Requests

/// The languages in which a reader reads, the most preferred first, as the SQL function `feed_language` returns them: the first parts of
/// BCP 47 tags, such as `pt` for `pt-BR`.
package enum ReaderLanguages {
    package static let countMax = 10

    /// Returns the languages of tags, codes, and English names, without repetitions. Other texts are left out.
    package static func known(_ texts: some Sequence<String>) -> [String] {
        var languages: [String] = []
        for text in texts {
            guard let tag = Languages.tag(text) else { continue }
            var language = String(tag.prefix { $0 != "-" })
            // The two forms of Norwegian are one language.
            if ["nb", "nn"].contains(language) { language = "no" }
            if !languages.contains(language) { languages.append(language) }
            if languages.count == countMax { break }
        }
        return languages
    }

    /// Returns the languages of a header `Accept-Language`, by descending weight.
    static func accepted(_ header: String?) -> [String] { known(AcceptLanguage.tags(header)) }
}
