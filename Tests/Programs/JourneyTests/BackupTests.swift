import FoundationEssentials
import GraphQL
import TestSupport
import Testing

/// A backup that was taken while the server was running restores to an identical installation.
@Suite struct BackupTests {
    @Test func restoresABackupToAnotherInstallation() async throws {
        let installation = try await Installation.ready()
        let server = try await installation.startServer()
        let session = try await server.signIn("keeper")
        let token = session["accessToken"]?.string
        let made = try await server.client.execute(
            #"mutation { createBook(input: {title: "Kept"}) { id title } }"#, token: token)
        #expect(made["errors"] == nil)
        let covers = "\(installation.folder)/covers"
        try FileManager.default.createDirectory(
            atPath: "\(covers)/ab", withIntermediateDirectories: true)
        _ = try installation.write("a cover", to: "covers/ab/one.jpg")

        let backup = "\(installation.folder)/backup"
        let withoutCovers = try await script(
            "backup", backup, storage: covers + "2", database: installation.database)
        #expect(withoutCovers.code == 78)
        #expect(withoutCovers.errors.contains("set BOOKPLATE_STORAGE"))
        let taken = try await script(
            "backup", backup, storage: covers, database: installation.database)
        #expect(taken.code == 0, "\(taken.errors)")
        // An existing backup is not overwritten.
        #expect(
            try await script("backup", backup, storage: covers, database: installation.database)
                .code == 1)

        let other = try await Installation.bare()
        let restoredCovers = "\(other.folder)/covers"
        let restored = try await script(
            "restore", backup, storage: restoredCovers, database: other.database)
        #expect(restored.code == 0, "\(restored.errors)")
        #expect(
            try String(contentsOfFile: "\(restoredCovers)/ab/one.jpg", encoding: .utf8) == "a cover"
        )
        #expect(
            try await other.admin(["migrate", "verify"]).code == 0)
        // The session is still valid, because the session keys were copied separately, as docs/how-to/back-up-and-restore.md
        // describes.
        let keys = "\(installation.folder)/.bookplate/session-keys"
        let again = try await other.startServer(["BOOKPLATE_SESSION_KEYS": keys])
        let library = try await again.client.execute(
            "{ me { books { nodes { title } } } }", token: token)
        #expect(library == ["data": ["me": ["books": ["nodes": [["title": "Kept"]]]]]])
        // Row-level security was restored: another user does not see the books.
        let otherUser = try await again.signIn("stranger")["accessToken"]?.string
        let nothing = try await again.client.execute(
            "{ me { books { totalCount } } }", token: otherUser)
        #expect(nothing == ["data": ["me": ["books": ["totalCount": 0]]]])

        let twice = try await script(
            "restore", backup, storage: restoredCovers + "2", database: other.database)
        #expect(twice.code == 1)
        #expect(twice.errors.contains("not empty"))
    }

    @Test func theAgeOfBackupsIsChecked() async throws {
        let installation = try await Installation.ready(catalog: [])
        let covers = "\(installation.folder)/covers"
        let backups = "\(installation.folder)/backups"
        for folder in [covers, backups] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        }
        let settings = ["BOOKPLATE_BACKUPS": backups]
        /// The state of the check and the exit code.
        func state() async throws -> String {
            let outcome = try await installation.admin(["doctor", "--json", "--offline"], settings)
            let findings = try parseJSON(Array(outcome.output.utf8))["findings"]?.list ?? []
            let found = findings.first { $0["check"] == "backups" }
            return "\(found?["state"]?.string ?? "missing") \(outcome.code ?? -1)"
        }
        #expect(try await state() == "warning 0")
        let taken = try await script(
            "backup", "\(backups)/one", storage: covers, database: installation.database)
        #expect(taken.code == 0, "\(taken.errors)")
        #expect(try await state() == "ok 0")

        let server = try await installation.startServer(settings)
        let metrics = try await server.client.send("GET", "/metrics").body.split(separator: "\n")
        let line = metrics.first { $0.hasPrefix("bookplate_backup_timestamp_seconds ") }
        let made = try #require(line?.split(separator: " ").last.flatMap { Int($0) })
        #expect(made > 1_700_000_000)

        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -36.1 * 3600)],
            ofItemAtPath: "\(backups)/one/database.dump")
        #expect(try await state() == "wrong 2")
    }

    private func script(
        _ name: String, _ folder: String, storage: String, database: TestDatabase
    ) async throws -> Program.Outcome {
        let program = Program(
            name: name,
            environment: [
                "PATH": "/usr/bin:/bin", "BOOKPLATE_STORAGE": "file:\(storage)",
                "BOOKPLATE_ADMIN_DATABASE_URL": try database.url(as: TestCluster.owner),
            ],
            folder: try Program.makeFolder(), path: "\(TestCluster.project)/scripts/\(name)")
        return try await program.run(folder)
    }
}
