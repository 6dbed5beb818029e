/// How Open Library's answers become records.
extension OpenLibrary {
    private static let genresMax = 6

    /// An edition by its key or ISBN. Authors are keys there, and not taken.
    func record(edition: JSON) -> BookRecord? {
        guard let title = edition["title"]?.text else { return nil }
        let key = edition["key"]?.text?.split(separator: "/").last
        return BookRecord(
            title: title, subtitle: edition["subtitle"]?.text,
            isbns: edition.texts("isbn_13") + edition.texts("isbn_10"),
            publisher: edition.texts("publishers").first,
            publishedDate: edition["publish_date"]?.text.flatMap(publishedDate),
            pageCount: edition["number_of_pages"]?.pageCount,
            language: edition["languages"]?.items.first?["key"]?.text?.split(separator: "/").last
                .map { languageCode(String($0)) },
            genres: Self.genres(edition.texts("subjects")),
            description: edition["description"]?.textOrValue.flatMap(plainText),
            covers: covers(edition["covers"]),
            keys: key.map { [SourceKey(source: .openLibrary, key: String($0))] } ?? [])
    }

    /// An item of `/api/books` with `jscmd=data`.
    func record(data: JSON) -> BookRecord? {
        guard let title = data["title"]?.text else { return nil }
        func names(_ member: String) -> [String] {
            data[member]?.items.compactMap { $0["name"]?.text } ?? []
        }
        let identifiers = data["identifiers"]
        let key = data["key"]?.text?.split(separator: "/").last
        // "https://covers.openlibrary.org/b/id/2379038-L.jpg"
        let coverID = data["cover"]?["large"]?.text?.split(separator: "/").last?
            .split(separator: "-").first.flatMap { Int($0) }
        return BookRecord(
            title: title, subtitle: data["subtitle"]?.text, authors: names("authors"),
            isbns: (identifiers?.texts("isbn_13") ?? []) + (identifiers?.texts("isbn_10") ?? []),
            publisher: names("publishers").first,
            publishedDate: data["publish_date"]?.text.flatMap(publishedDate),
            pageCount: data["number_of_pages"]?.pageCount,
            genres: Self.genres(names("subjects")),
            covers: coverID.map { covers(.array([.number(Double($0))])) } ?? [],
            keys: key.map { [SourceKey(source: .openLibrary, key: String($0))] } ?? [])
    }

    /// An item of a search: a work, with the numbers of all its editions.
    func record(document: JSON) -> BookRecord? {
        guard let title = document["title"]?.text else { return nil }
        return BookRecord(
            title: title, subtitle: document["subtitle"]?.text,
            authors: document.texts("author_name"),
            // Those of the edition that fits the words come first.
            isbns: (document["editions"]?["docs"]?.items.first?.texts("isbn") ?? [])
                + document.texts("isbn"), publisher: document.texts("publisher").first,
            publishedDate: document["first_publish_year"]?.int.flatMap { publishedDate("\($0)") },
            pageCount: document["number_of_pages_median"]?.pageCount,
            language: document.texts("language").count == 1
                ? document.texts("language").first.map(languageCode) : nil,
            genres: Self.genres(document.texts("subject")),
            covers: covers(document["cover_i"].map { .array([$0]) }))
    }

    /// Numbers of covers may be -1 or null, which are none.
    func covers(_ numbers: JSON?) -> [CoverCandidate] {
        guard let coversURL else { return [] }
        return (numbers?.items ?? []).compactMap(\.int).filter { $0 > 0 }.prefix(3).map { number in
            // Without default=false a missing cover is a picture of one pixel.
            CoverCandidate(
                source: .openLibrary, url: "\(coversURL)/b/id/\(number)-L.jpg?default=false")
        }
    }

    /// Subjects that read like genres: people, places and shelf marks are left out.
    static func genres(_ subjects: [String]) -> [String] {
        var genres: [String] = []
        for subject in subjects {
            guard subject.count <= 40, !subject.contains(where: { ":=()/".contains($0) }),
                subject.first?.isUppercase == true, !genres.contains(subject)
            else { continue }
            genres.append(subject)
            if genres.count == genresMax { break }
        }
        return genres
    }
}
