import Testing

@testable import Config

/// The databases in `BOOKPLATE_OTHER_DATABASES`.
@Suite struct OtherDatabaseTests {
    private static let valid = [
        "BOOKPLATE_OTHER_DATABASES": "db2,db3",
        "BOOKPLATE_DATABASE_URL_DB2": "postgresql://db2/bookplate",
        "BOOKPLATE_STORAGE_DB2": "file:two",
        "BOOKPLATE_DATABASE_URL_DB3": "postgresql://db3/bookplate",
        "BOOKPLATE_DATABASE_DIRECT_URL_DB3": "postgresql://direct3/bookplate",
        "BOOKPLATE_STORAGE_DB3": "file:three",
    ]

    @Test func eachHasVariablesWithItsName() throws {
        let configuration = try Configuration(Self.valid)
        #expect(
            configuration.otherDatabases == [
                .init(
                    name: "db2", url: "postgresql://db2/bookplate",
                    directURL: "postgresql://db2/bookplate", storage: .folder("two")),
                .init(
                    name: "db3", url: "postgresql://db3/bookplate",
                    directURL: "postgresql://direct3/bookplate", storage: .folder("three")),
            ])
        #expect(configuration.unknownVariables.isEmpty)
        #expect(try Configuration([:]).otherDatabases.isEmpty)
    }

    @Test(arguments: [
        ("BOOKPLATE_OTHER_DATABASES", "DB2", "lower-case letters"),
        ("BOOKPLATE_OTHER_DATABASES", "db2,db2", "different names"),
        ("BOOKPLATE_OTHER_DATABASES", "db2,", "empty entries"),
        ("BOOKPLATE_OTHER_DATABASES", "a,b,c,d,e,f,g,h,i", "at most 8"),
        ("BOOKPLATE_DATABASE_URL_DB2", "", "is not set"),
        ("BOOKPLATE_STORAGE_DB2", "", "is not set"),
        ("BOOKPLATE_STORAGE_DB2", "two", "must be file:PATH"),
        ("BOOKPLATE_STORAGE_DB3", "file:two", "is the storage of another database"),
        ("BOOKPLATE_STORAGE_DB2", "file:.bookplate/objects", "is the storage of another database"),
    ])
    func problemsAreNamed(variable: String, value: String, reason: String) {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(Self.valid.merging([variable: value]) { $1 })
        }
        #expect(error?.name == variable)
        #expect(error.map { "\($0)".contains(reason) } == true, "\(String(describing: error))")
    }
}
