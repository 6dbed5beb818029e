/// The conversion of Open Library's responses to records.
extension OpenLibrary {
    private static let genresMax = 30
    private static let contributorsMax = 10

    /// Converts an edition. The authors are those whose names it contains; most editions contain only keys.
    func record(edition: JSON) -> BookRecord? {
        let reader = reader(edition)
        guard let title = reader.line("title", as: .title) else { return nil }
        let separated = SeriesName.separate(title)
        let series = reader.lines("series", as: .series).lazy
            .compactMap { SeriesName(catalog: $0) }.first
        return BookRecord(
            title: separated?.title ?? title, subtitle: reader.line("subtitle", as: .subtitle),
            authors: authors(edition).compactMap {
                if case .name(let name) = $0 { name } else { nil }
            },
            isbns: reader.isbns("isbn_13") + reader.isbns("isbn_10"),
            publisher: reader.line("publishers", as: .publisher)
                ?? reader.line("publisher", as: .publisher),
            publishedDate: reader.date("publish_date"),
            pageCount: reader.pageCount("number_of_pages", "pagination"),
            language: reader.language("languages"),
            genres: Self.genres(reader.lines("subjects", as: .genres)),
            description: reader.paragraphs("description", as: .description),
            covers: covers(edition["covers"]), keys: Self.editionKeys(edition["key"]),
            contributors: contributors(reader), workKeys: Self.workKeys(workKey(edition)),
            series: separated?.series ?? series)
    }

    /// Adds the data of the edition's work that the edition does not have. A work has the authors of most editions.
    func fill(_ record: inout BookRecord, from work: JSON) {
        let reader = reader(work)
        record.subtitle = record.subtitle ?? reader.line("subtitle", as: .subtitle)
        record.description =
            record.description ?? reader.paragraphs("description", as: .description)
        record.covers += covers(work["covers"]).filter { !record.covers.contains($0) }
        if record.genres.isEmpty {
            record.genres = Self.genres(reader.lines("subjects", as: .genres))
        }
        record.series =
            record.series
            ?? reader.lines("series", as: .series).lazy.compactMap { SeriesName(catalog: $0) }.first
    }

    private func reader(_ json: JSON) -> RecordReader {
        RecordReader(json, onUnreadable: client.recordUnreadable)
    }

    /// Converts the record of an author. If it was merged into another record, `key` is the old key.
    func record(author: JSON, key: String) -> AuthorRecord? {
        let reader = reader(author)
        let name =
            reader.line("name", as: .authors) ?? reader.line("personal_name", as: .authors)
        guard let name else { return nil }
        let key = author["key"]?.anyText.flatMap(Self.key) ?? key
        return AuthorRecord(
            name: name, key: key.split(separator: "/").last.map { String($0) },
            bio: AuthorRecord.bio(reader.value("bio", as: .bio) { $0.anyText }), isComplete: true)
    }

    /// Reads the authors of an edition or a work in all forms that Open Library has used: `{"key": "/authors/OL1A"}`,
    /// `{"author": {"key": "/authors/OL1A"}}`, `{"author": "/authors/OL1A"}`, `"/authors/OL1A"`, and names; in a list or alone.
    func authors(_ json: JSON) -> [AuthorReference] {
        var references: [AuthorReference] = []
        for reference in reader(json).list("authors", as: .authors, { AuthorReference($0) })
        where !references.contains(reference) { references.append(reference) }
        return references
    }

    func authorKeys(_ json: JSON) -> [String] {
        authors(json).compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    /// Returns the path of the edition's work.
    func workKey(_ edition: JSON) -> String? {
        reader(edition).list("works", as: .works) { work in
            (work["key"]?.anyText ?? work.anyText).flatMap(Self.key).flatMap {
                $0.hasPrefix("/works/") ? $0 : nil
            }
        }.first
    }

    /// Returns the ID of the work with a path, such as `/works/OL45804W`.
    private static func workKeys(_ path: String?) -> [SourceKey] {
        path?.split(separator: "/").last.map { [SourceKey(source: .openLibrary, key: String($0))] }
            ?? []
    }

    private static func editionKeys(_ key: JSON?) -> [SourceKey] {
        let id = key?.anyText?.split(separator: "/").last
        return id.map { [SourceKey(source: .openLibrary, key: String($0))] } ?? []
    }

    /// Returns the contributors whose role is known. Other members list names, roles, and dates in any order.
    private func contributors(_ reader: RecordReader) -> [Contributor] {
        let labeled = reader.lines("contributions", as: .contributors)
            .map { Contributor(labeled: $0) }.filter { $0.role != .author }
        let named = reader.list("contributors", as: .contributors) { item -> Contributor? in
            guard let name = item.anyText.flatMap(plainLine) else { return nil }
            // A contributor without a known role is left out below.
            guard let role = item["role"]?.anyText.flatMap({ AuthorRole(words: $0) }) else {
                return Contributor(labeled: name)
            }
            return Contributor(name: name, role: role)
        }.filter { $0.role != .author }
        var contributors: [Contributor] = []
        for contributor in named + labeled {
            let contributor = Contributor(
                name: Contributor.givenNameFirst(contributor.name), role: contributor.role)
            if !contributors.contains(contributor) { contributors.append(contributor) }
        }
        return Array(contributors.prefix(Self.contributorsMax))
    }

    /// Converts an item of `/api/books` with `jscmd=data`.
    func record(data: JSON) -> BookRecord? {
        let reader = reader(data)
        guard let title = reader.line("title", as: .title) else { return nil }
        let identifiers = data["identifiers"].map { self.reader($0) }
        // "https://covers.openlibrary.org/b/id/2379038-L.jpg"
        let coverID = data["cover"]?["large"]?.text?.split(separator: "/").last?
            .split(separator: "-").first.flatMap { Int($0) }
        let separated = SeriesName.separate(title)
        return BookRecord(
            title: separated?.title ?? title, subtitle: reader.line("subtitle", as: .subtitle),
            authors: reader.lines("authors", as: .authors),
            isbns: (identifiers?.isbns("isbn_13") ?? []) + (identifiers?.isbns("isbn_10") ?? []),
            publisher: reader.line("publishers", as: .publisher),
            publishedDate: reader.date("publish_date"),
            pageCount: reader.pageCount("number_of_pages", "pagination"),
            genres: Self.genres(reader.lines("subjects", as: .genres)),
            covers: coverID.map { covers(.array([.number(Double($0))])) } ?? [],
            keys: Self.editionKeys(data["key"]),
            authorRecords: (data["authors"]?.itemsOrSelf ?? []).compactMap { author in
                guard let name = author["name"]?.anyText.flatMap(plainLine),
                    let key = author["url"]?.text.flatMap(Self.key)
                else { return nil }
                return AuthorRecord(
                    name: name, key: key.split(separator: "/").last.map { String($0) })
            }, series: separated?.series)
    }

    /// Converts a search result, which is a work with the ISBNs of all its editions.
    func record(document: JSON) -> BookRecord? {
        let reader = reader(document)
        guard let title = reader.line("title", as: .title) else { return nil }
        // The edition that matches the query comes first.
        let edition = (document["editions"]?["docs"]?.itemsOrSelf.first).map { self.reader($0) }
        let separated = SeriesName.separate(title)
        let ownISBNs = edition?.isbns("isbn") ?? []
        let isbns = ownISBNs + reader.isbns("isbn")
        // The edition is not the one with the ISBN of another edition.
        let isEdition = !ownISBNs.isEmpty || isbns.isEmpty
        return BookRecord(
            title: separated?.title ?? title, subtitle: reader.line("subtitle", as: .subtitle),
            authors: reader.lines("author_name", as: .authors), isbns: isbns,
            publisher: reader.line("publisher", as: .publisher),
            publishedDate: reader.date("first_publish_year"),
            pageCount: reader.pageCount("number_of_pages_median"),
            language: document["language"]?.itemsOrSelf.count == 1
                ? reader.language("language") : nil,
            genres: Self.genres(reader.lines("subject", as: .genres)),
            covers: covers(document["cover_i"]),
            keys: isEdition ? Self.editionKeys(edition?.json["key"]) : [],
            workKeys: Self.workKeys(document["key"]?.anyText.flatMap(Self.key)),
            series: separated?.series)
    }

    /// Returns the first three covers. An ID of -1 or null means that there is no cover.
    func covers(_ ids: JSON?) -> [CoverCandidate] {
        guard let coversURL else { return [] }
        return (ids?.itemsOrSelf ?? []).compactMap(\.int).filter { $0 > 0 }.prefix(3).map { id in
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
