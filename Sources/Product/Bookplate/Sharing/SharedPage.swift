import Basics
import Requests

/// The page of a link as HTML, without scripts.
///
/// All texts of readers are escaped. `dir="auto"` and `bdi` isolate their direction from that of the page.
struct SharedPage {
    private let texts: SharedTexts
    private let services: Services

    init(acceptLanguage: String?, services: Services) {
        texts = .preferred(by: acceptLanguage)
        self.services = services
    }

    var language: String { texts.language }

    /// The page for a link that does not exist, was revoked, or has expired.
    var missing: String {
        document(
            title: texts.missingTitle, head: "",
            "<h1>\(escape(texts.missingTitle))</h1>\n<p>\(escape(texts.missingText))</p>")
    }

    func html(_ item: SharedItem) -> String {
        let content: String
        switch item.link.item {
        case .shelf: content = list(item)
        case .year: content = figures(item) + list(item)
        case .review: content = book(item) + review(item)
        case .note: content = book(item) + note(item)
        }
        let names = ["name": item.link.reader ?? "", "app": item.link.app]
        let byline = item.link.reader == nil ? texts.sharedWith : texts.sharedBy
        return document(
            title: "\(item.title) · \(item.link.app)", head: openGraph(item),
            """
            <h1 dir="auto">\(escape(item.title))</h1>
            \(content)
            <footer>\(filled(byline, names))</footer>
            """)
    }

    // MARK: - Books

    private func list(_ item: SharedItem) -> String {
        guard !item.books.isEmpty else { return "<p class=\"note\">\(escape(texts.empty))</p>" }
        let entries = item.books.map { book in
            let author = book.author.map {
                "<span class=\"author\" dir=\"auto\">\(escape($0))</span>"
            }
            return """
                <li>\(image(book, item, isLazy: true))<span class="title" dir="auto">\(escape(book.title))</span>\(author ?? "")</li>
                """
        }
        let next = item.endCursor.map {
            "\n<nav><a class=\"button\" rel=\"next\" href=\"?after=\($0)\">\(escape(texts.more))</a></nav>"
        }
        return "<ul class=\"books\">\n\(entries.joined(separator: "\n"))\n</ul>\(next ?? "")"
    }

    /// The only book of a review or note, whose title is the heading of the page.
    private func book(_ item: SharedItem) -> String {
        guard let book = item.books.first else { return "" }
        let author = book.author.map { "<p class=\"author\" dir=\"auto\">\(escape($0))</p>\n" }
        return "\(author ?? "")<div class=\"cover\">\(image(book, item, isLazy: false))</div>\n"
    }

    /// The cover, or a colored card. Its text alternative is empty, because the title is next to it.
    private func image(_ book: SharedBook, _ item: SharedItem, isLazy: Bool) -> String {
        guard let cover = book.cover else {
            let letter = book.title.first { $0.isLetter || $0.isNumber }.map { "\($0)" } ?? ""
            return """
                <svg class="image" viewBox="0 0 200 300" aria-hidden="true"><rect width="200" height="300" fill="\(escape(book.color))"/><rect width="14" height="300" fill="#000" fill-opacity="0.18"/><circle cx="107" cy="150" r="58" fill="#fff" fill-opacity="0.85"/><text x="107" y="150" dy="0.35em" text-anchor="middle" font-size="64" fill="#222">\(escape(letter))</text></svg>
                """
        }
        return """
            <img class="image" src="\(escape(item.url(of: cover, book, services)))" width="\(cover.width)" height="\(cover.height)" alt=""\(isLazy ? " loading=\"lazy\"" : "")>
            """
    }

    // MARK: - Texts and numbers

    private func review(_ item: SharedItem) -> String {
        var html = ""
        if let stars = item.stars, let quarterStars = item.facts.quarterStars {
            let text =
                String(repeating: "★", count: quarterStars / 4)
                + ["", "¼", "½", "¾"][quarterStars % 4]
            let number = quarterStars % 4 == 0 ? "\(quarterStars / 4)" : "\(stars)"
            html += """
                <p class="stars" role="img" aria-label="\(number) \(escape(texts.stars))">\(text)</p>

                """
        }
        guard let text = item.facts.text else { return html }
        let paragraph = "<p class=\"text\" dir=\"auto\">\(escape(text))</p>"
        return html
            + (item.facts.hasSpoilers
                ? "<details><summary>\(escape(texts.spoilers))</summary>\n\(paragraph)\n</details>"
                : paragraph)
    }

    private func note(_ item: SharedItem) -> String {
        let facts = item.facts
        let quote = facts.text.map {
            "<blockquote class=\"text\" dir=\"auto\">\(escape($0))</blockquote>\n"
        }
        let comment = facts.comment.map { "<p class=\"text\" dir=\"auto\">\(escape($0))</p>\n" }
        let place = [
            facts.chapter.map { "<bdi>\(escape($0))</bdi>" },
            facts.page.map { "\(escape(texts.page)) \($0)" },
        ].compactMap { $0 }.joined(separator: " · ")
        return (quote ?? "") + (comment ?? "")
            + (place.isEmpty ? "" : "<p class=\"note\">\(place)</p>")
    }

    private func figures(_ item: SharedItem) -> String {
        let facts = item.facts
        let figures = [
            (texts.books, facts.bookCount), (texts.pages, facts.pageCount),
            (texts.hours, facts.seconds / 3600),
        ].filter { $0.1 > 0 }.map {
            "<div><dt>\(escape($0.0))</dt><dd>\(Self.grouped($0.1))</dd></div>"
        }
        guard !figures.isEmpty else { return "" }
        let most = max(facts.months.max() ?? 0, 1)
        let bars = facts.months.enumerated().map { month, count in
            let height = count == 0 ? 2 : 8 + 52 * count / most
            return
                "<rect x=\"\(month * 20 + 2)\" y=\"\(60 - height)\" width=\"16\" height=\"\(height)\" rx=\"3\"/>"
        }
        let numbers = facts.months.map { "\($0)" }.joined(separator: ", ")
        return """
            <dl>\(figures.joined())</dl>
            <svg class="months" viewBox="0 0 240 60" role="img" aria-label="\(escape(texts.perMonth)): \(numbers)">\(bars.joined())</svg>

            """
    }

    /// Returns a number with a narrow space between groups of three digits.
    private static func grouped(_ number: Int) -> String {
        var digits = ""
        for (index, digit) in "\(number)".reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { digits.append("\u{202F}") }
            digits.append(digit)
        }
        return String(digits.reversed())
    }

    // MARK: - The document

    /// The tags from which other apps make a preview of the link.
    ///
    /// Spec: https://ogp.me
    private func openGraph(_ item: SharedItem) -> String {
        var tags = [
            ("og:type", "website"), ("og:title", item.title), ("og:site_name", item.link.app),
            (
                "og:url",
                "\(services.covers.urls.publicURL)\(SharedLink.path)\(item.token.text)"
            ),
        ]
        let words = item.facts.hasSpoilers ? nil : item.facts.text ?? item.facts.comment
        let titles = item.books.prefix(3).map(\.title).joined(separator: ", ")
        let description = words ?? titles
        if !description.isEmpty { tags.append(("og:description", String(description.prefix(200)))) }
        let shown = item.books.first { $0.cover != nil }
        if let shown, let cover = shown.cover {
            tags += [
                ("og:image", item.url(of: cover, shown, services)),
                ("og:image:width", "\(cover.width)"), ("og:image:height", "\(cover.height)"),
                ("og:image:alt", shown.title),
            ]
        }
        return tags.map { "<meta property=\"\($0.0)\" content=\"\(escape($0.1))\">" }
            .joined(separator: "\n")
    }

    private func document(title: String, head: String, _ content: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="\(texts.language)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(escape(title))</title>
        <meta name="robots" content="noindex">
        <link rel="stylesheet" href="\(services.covers.urls.publicURL)\(SharedLink.path)page.css">
        \(head)
        </head>
        <body>
        <main>
        \(content)
        </main>
        </body>
        </html>

        """
    }

    /// Escapes a text of ours and replaces its placeholders in one pass, so braces in a name are not a placeholder.
    private func filled(_ text: String, _ names: [String: String]) -> String {
        OAuthPage.fill(text, names) { "<bdi>\(escape($0))</bdi>" }
    }

    private func escape(_ text: String) -> String { OAuthPage.escape(text) }
}
