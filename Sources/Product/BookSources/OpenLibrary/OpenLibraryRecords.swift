/// The conversion of Open Library's responses to records.
extension OpenLibrary {
    private static let genresMax = 30
    private static let contributorsMax = 10

    /// Converts an edition. Its authors are keys, so they are not taken over.
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
            keys: key.map { [SourceKey(source: .openLibrary, key: String($0))] } ?? [],
            contributors: Self.contributors(edition), workKeys: Self.workKeys(Self.workKey(edition))
        )
    }

    /// Converts the record of an author. If it was merged into another record, `key` is the old key.
    func record(author: JSON, key: String) -> AuthorRecord? {
        guard let name = author["name"]?.text else { return nil }
        let key = author["key"]?.text.flatMap(Self.key) ?? key
        return AuthorRecord(
            name: name, key: key.split(separator: "/").last.map { String($0) },
            bio: AuthorRecord.bio(author["bio"]?.textOrValue), isComplete: true)
    }

    static func workKey(_ edition: JSON) -> String? {
        edition["works"]?.items.first?["key"]?.text.flatMap(Self.key)
    }

    /// Returns the ID of the work with a path, such as `/works/OL45804W`.
    private static func workKeys(_ path: String?) -> [SourceKey] {
        path?.split(separator: "/").last.map { [SourceKey(source: .openLibrary, key: String($0))] }
            ?? []
    }

    static func authorKeys(edition: JSON) -> [String] {
        edition["authors"]?.items.compactMap { $0["key"]?.text.flatMap(Self.key) } ?? []
    }

    static func authorKeys(work: JSON) -> [String] {
        work["authors"]?.items.compactMap { $0["author"]?["key"]?.text.flatMap(Self.key) } ?? []
    }

    /// Returns the contributors whose role is known. Other members list names, roles, and dates in any order.
    private static func contributors(_ edition: JSON) -> [Contributor] {
        let labeled = edition.texts("contributions").map { Contributor(labeled: $0) }
            .filter { $0.role != .author }
        let named: [Contributor] = (edition["contributors"]?.items ?? []).compactMap { item in
            guard let name = item["name"]?.text,
                let role = item["role"]?.text.flatMap({ AuthorRole(words: $0) }), role != .author
            else { return nil }
            return Contributor(name: name, role: role)
        }
        var contributors: [Contributor] = []
        for contributor in named + labeled {
            let contributor = Contributor(
                name: Contributor.givenNameFirst(contributor.name), role: contributor.role)
            if !contributors.contains(contributor) { contributors.append(contributor) }
        }
        return Array(contributors.prefix(contributorsMax))
    }

    /// Converts an item of `/api/books` with `jscmd=data`.
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
            keys: key.map { [SourceKey(source: .openLibrary, key: String($0))] } ?? [],
            authorRecords: (data["authors"]?.items ?? []).compactMap { author in
                guard let name = author["name"]?.text,
                    let key = author["url"]?.text.flatMap(Self.key)
                else { return nil }
                return AuthorRecord(
                    name: name, key: key.split(separator: "/").last.map { String($0) })
            })
    }

    /// Converts a search result, which is a work with the ISBNs of all its editions.
    func record(document: JSON) -> BookRecord? {
        guard let title = document["title"]?.text else { return nil }
        return BookRecord(
            title: title, subtitle: document["subtitle"]?.text,
            authors: document.texts("author_name"),
            // The ISBNs of the edition that matches the query come first.
            isbns: (document["editions"]?["docs"]?.items.first?.texts("isbn") ?? [])
                + document.texts("isbn"), publisher: document.texts("publisher").first,
            publishedDate: document["first_publish_year"]?.int.flatMap { publishedDate("\($0)") },
            pageCount: document["number_of_pages_median"]?.pageCount,
            language: document.texts("language").count == 1
                ? document.texts("language").first.map(languageCode) : nil,
            genres: Self.genres(document.texts("subject")),
            covers: covers(document["cover_i"].map { .array([$0]) }),
            workKeys: Self.workKeys(document["key"]?.text.flatMap(Self.key)))
    }

    /// Returns the first three covers. An ID of -1 or null means that there is no cover.
    func covers(_ ids: JSON?) -> [CoverCandidate] {
        guard let coversURL else { return [] }
        return (ids?.items ?? []).compactMap(\.int).filter { $0 > 0 }.prefix(3).map { id in
            // Without default=false, Open Library returns an image of one pixel for a missing cover.
            CoverCandidate(
                source: .openLibrary, url: "\(coversURL)/b/id/\(id)-L.jpg?default=false")
        }
    }

    /// Returns the subjects that look like genres. People, places, and shelf marks are omitted.
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
