import LoopbackHTTP
import Testing

@testable import BookSources

/// Authors: their names in texts, and their records at Open Library.
@Suite struct AuthorRecordTests {
    // MARK: - Names

    @Test(arguments: [
        ("Ursula K. Le Guin", ["Ursula K. Le Guin"]),
        ("Terry Pratchett & Neil Gaiman", ["Terry Pratchett", "Neil Gaiman"]),
        ("A. Bee, C. Dee, and E. Eff, Jr.", ["A. Bee", "C. Dee", "E. Eff, Jr."]),
        ("Ann Bee; Dee, Carl", ["Ann Bee", "Dee, Carl"]),
        ("Smith, John & Jones, Mary", ["Smith, John", "Jones, Mary"]),
        ("García Márquez and Ludwig van Beethoven", ["García Márquez", "Ludwig van Beethoven"]),
        // These may be one name.
        ("Le Guin, Ursula K.", ["Le Guin, Ursula K."]),
        ("Smith and Sons", ["Smith and Sons"]),
        ("Institute for Arts and Crafts Research", ["Institute for Arts and Crafts Research"]),
        ("", []),
    ])
    func textIsSplitOnlyIfItNamesSeveralPersons(text: String, names: [String]) {
        #expect(Contributor.authors(text).map(\.name) == names)
        #expect(Contributor.authors(text).allSatisfy { $0.role == .author })
    }

    @Test func listsAreSeparatedByCommas() {
        let list = Contributor.list(
            "Mary GrandPré (Illustrator), Rob Inglis (Narrator, Reader), Martin King, Jr., Prince (Musician), X Y (Goodreads Author)"
        )
        #expect(
            list == [
                Contributor(name: "Mary GrandPré", role: .illustrator),
                Contributor(name: "Rob Inglis", role: .narrator),
                Contributor(name: "Martin King, Jr."), Contributor(name: "Prince (Musician)"),
                Contributor(name: "X Y"),
            ])
    }

    @Test(
        arguments: [
            ("Illustrated by", .illustrator), ("Translator", .translator),
            ("traductor", .translator),
            ("Ed.", .editor), ("Author of introduction", .contributor), ("Cover Art", .contributor),
            ("Read by", .narrator), ("Education", nil), ("", nil),
        ] as [(String, AuthorRole?)])
    func wordsNameRoles(words: String, role: AuthorRole?) {
        #expect(AuthorRole(words: words) == role)
    }

    @Test func rolesHaveDifferentNumbers() {
        #expect(Set(AuthorRole.allCases.map(\.number)).count == AuthorRole.allCases.count)
    }

    // MARK: - Biographies

    @Test func biographiesArePlainText() throws {
        #expect(AuthorRecord.bio(nil) == nil)
        #expect(AuthorRecord.bio(" \r\n ") == nil)
        #expect(
            AuthorRecord.bio(
                "**Ann** wrote [books][1].<br>Many & more.\u{0}\r\n\r\n([Source][1])\r\n\r\n  [1]: http://x.example"
            ) == "Ann wrote books.\nMany & more.")
        #expect(AuthorRecord.bio("A life. Source: https://x.example/a") == "A life.")
    }

    @Test func longBiographiesEndAfterASentence() throws {
        let sentence = "This is a sentence about the life of an author. "
        let bio = try #require(AuthorRecord.bio(String(repeating: sentence, count: 100)))
        #expect(bio.unicodeScalars.count <= AuthorRecord.bioCharactersMax)
        #expect(bio.unicodeScalars.count > AuthorRecord.bioCharactersMax - sentence.count)
        #expect(bio.hasSuffix("author."))
        let words = try #require(AuthorRecord.bio(String(repeating: "word ", count: 1000)))
        #expect(words.hasSuffix("word…"))
        #expect(words.unicodeScalars.count <= AuthorRecord.bioCharactersMax)
        let word = try #require(AuthorRecord.bio(String(repeating: "é", count: 5000)))
        #expect(word.unicodeScalars.count == AuthorRecord.bioCharactersMax)
    }

    // MARK: - Open Library

    private func authors(
        _ query: AuthorQuery, _ respond: @escaping @Sendable (String) -> [Step]?
    ) async throws -> ([AuthorRecord]?, requests: [String]) {
        let fake = try FakeSources(openLibrary: respond)
        let records = await fake.sources.authors(query, within: .seconds(10))
        #expect(fake.google.requests.isEmpty)
        return (records, fake.openLibrary.requests.map(\.target))
    }

    @Test func lookupReturnsContributorsAndAuthorsWithTheirBiographies() async throws {
        let fake = try FakeSources(openLibrary: FakeSources.fantasticFox)
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        #expect(record.authors == ["Roald Dahl"])
        #expect(record.contributors == [Contributor(name: "Tony Ross", role: .illustrator)])
        let author = try #require(record.authorRecords.first)
        #expect(record.authorRecords.count == 1)
        #expect(author.name == "Roald Dahl" && author.key == "OL34184A" && author.isComplete)
        #expect(author.bio?.hasPrefix("Roald Dahl was a British novelist") == true)
        #expect(author.bio?.hasSuffix("very dark humour.") == true)
    }

    @Test func contributorsOfUnknownRolesAreLeftOut() async throws {
        let fake = try FakeSources(openLibrary: { target in
            target.hasPrefix("/isbn/")
                ? [
                    .response(
                        """
                        {"title": "T", "contributions": ["Lee, Alan, 1947-", "Fraser, Eric (Illustrator)", "Q (Author)"],
                         "contributors": [{"name": "Francis Cugat", "role": "Cover Art"}, {"name": "Z", "role": "Friend"},
                          {"role": "Editor"}]}
                        """)
                ] : nil
        })
        let record = try #require(await fake.sources.edition(FakeSources.fox).record)
        #expect(
            record.contributors == [
                Contributor(name: "Francis Cugat", role: .contributor),
                Contributor(name: "Eric Fraser", role: .illustrator),
            ])
    }

    @Test func batchLookupReturnsTheKeysOfAuthors() async throws {
        let fake = try FakeSources(openLibrary: { target in
            target.hasPrefix("/api/books")
                ? [.response(recorded("api-books-data-9780316030571"))] : nil
        })
        let number = BookNumber(isbn13: "9780316030571", isbn10: "0316030570")
        let lookups = await fake.sources.editions([number, FakeSources.fox])
        let author = try #require(lookups[number]?.record?.authorRecords.first)
        #expect(author.name == lookups[number]?.record?.authors.first)
        #expect(author.key?.wholeMatch(of: /OL[0-9]+A/) != nil)
        #expect(author.bio == nil && !author.isComplete)
    }

    @Test func authorIsFetchedByItsKey() async throws {
        let (found, requests) = try await authors(
            .key("OL34184A"), FakeSources.fantasticFox)
        #expect(found?.map(\.name) == ["Roald Dahl"])
        #expect(requests == ["/authors/OL34184A.json"])
        // Authors without a biography have none.
        let (plain, _) = try await authors(.key("OL29463A")) { _ in
            [.response(recorded("authors-OL29463A"))]
        }
        #expect(
            plain == [AuthorRecord(name: "Jacqueline Harpman", key: "OL29463A", isComplete: true)])
        let (old, _) = try await authors(.key("OL1A")) { _ in [.response(recorded("authors-old"))] }
        #expect(old == [AuthorRecord(name: "Sachi Rautroy", key: "OL1A", isComplete: true)])
    }

    @Test func biographyMayBeAnObject() async throws {
        let (found, _) = try await authors(.key("OL1A")) { _ in
            [.response(#"{"name": "A", "bio": {"type": "/type/text", "value": "A life."}}"#)]
        }
        #expect(found == [AuthorRecord(name: "A", key: "OL1A", bio: "A life.", isComplete: true)])
    }

    @Test func mergedRecordsAreFollowed() async throws {
        let (found, requests) = try await authors(.key("OL5A")) { target in
            target == "/authors/OL5A.json"
                ? [
                    .response(
                        #"{"type": {"key": "/type/redirect"}, "location": "/authors/OL34184A"}"#)
                ]
                : FakeSources.fantasticFox(target)
        }
        #expect(found?.first?.key == "OL34184A")
        #expect(requests == ["/authors/OL5A.json", "/authors/OL34184A.json"])
    }

    @Test func authorsOfAnEditionAreThoseOfItsWorkIfItNamesNone() async throws {
        let (found, requests) = try await authors(.edition(FakeSources.fox)) { target in
            target.hasPrefix("/isbn/")
                ? [.response(#"{"title": "Fox", "works": [{"key": "/works/OL45804W"}]}"#)]
                : FakeSources.fantasticFox(target)
        }
        #expect(found?.map(\.name) == ["Roald Dahl"])
        #expect(
            requests == [
                "/isbn/9780140328721.json", "/works/OL45804W.json", "/authors/OL34184A.json",
            ])
    }

    @Test func unknownAuthorsAreNoFailure() async throws {
        let (unknown, _) = try await authors(.edition(FakeSources.fox)) { _ in nil }
        #expect(unknown == [])
        let (invalid, requests) = try await authors(.key("../secrets")) { _ in nil }
        #expect(invalid == [] && requests.isEmpty)
        let (failed, _) = try await authors(.key("OL1A")) { _ in [http("reconstructed-503")] }
        #expect(failed == nil)
        let (partial, _) = try await authors(.edition(FakeSources.fox)) { target in
            target.hasPrefix("/authors/") ? [.response(500, "")] : FakeSources.fantasticFox(target)
        }
        #expect(partial == nil)
    }
}
