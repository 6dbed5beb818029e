import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

/// `bookplate-admin account move` between two PostgreSQL clusters with a server each, while it is killed.
@Suite struct AccountMoveJourneyTests {
    private struct World {
        /// Keeps the second cluster running.
        let cluster: Standby
        let here: Installation
        let there: Installation
        let hereServer: RunningServer
        let thereServer: RunningServer
        let user: String
        let token: String?
        let book: String

        static func make() async throws -> World {
            let cluster = try await Standby.start(count: 0)
            let here = try await Installation.ready()
            let there = try await Installation.ready(on: cluster.primary)
            try await there.database.execute("DELETE FROM tenants")
            let hereServer = try await here.startServer()
            let keys = "\(here.folder)/.bookplate/session-keys"
            let thereServer = try await there.startServer(["BOOKPLATE_SESSION_KEYS": keys])
            let session = try await hereServer.signIn("ada")
            let token = session["accessToken"]?.string
            let user = try #require(session["user", "id"]?.string)
            let made = try await hereServer.client.execute(
                #"mutation { createBook(input: {title: "Mine", status: READ}) { id } }"#,
                token: token)
            let book = try #require(made["data", "createBook", "id"]?.string)
            let put = try await hereServer.client.send(
                "PUT", "/book-covers/\(user)/\(book).jpg", token: token,
                bytes: TestImage.png(width: 700, height: 1000, seed: 1))
            #expect(put.status == 201, "\(put.body)")
            return World(
                cluster: cluster, here: here, there: there, hereServer: hereServer,
                thereServer: thereServer, user: user, token: token, book: book)
        }

        private func environment() throws -> [String: String?] {
            [
                "BOOKPLATE_TARGET_DATABASE_URL": try there.database.url(as: TestCluster.owner),
                "BOOKPLATE_TARGET_STORAGE": "file:\(there.folder)/.bookplate/objects",
            ]
        }

        func start(_ arguments: String...) throws -> RunningProgram {
            try here.startAdmin(
                ["account", "move", user, "--drain", "0"] + arguments, environment())
        }

        func run(_ arguments: String...) async throws -> Program.Outcome {
            try await here.admin(
                ["account", "move", user, "--drain", "0"] + arguments, environment())
        }

        func titles(_ server: RunningServer) async throws -> Value {
            try await server.client.execute(
                "{ me { books { nodes { title cover { blurHash } } } } }", token: token)
        }

        /// Starts the move, and kills it when it waits for a lock in a step.
        ///
        /// - Parameters:
        ///   - table: The table that another transaction locks.
        ///   - mode: The mode of the lock. SHARE allows reads.
        func killMove(
            waitingFor table: String, in database: TestDatabase, mode: String = "ACCESS EXCLUSIVE"
        ) async throws {
            try await database.withConnection { connection in
                try connection.execute("BEGIN; LOCK TABLE \(table) IN \(mode) MODE")
                let program = try start("--yes")
                for _ in 0..<600 {
                    let waiting = try connection.query(
                        """
                        SELECT count(*) FROM pg_locks
                        WHERE NOT granted AND relation = '\(table)'::regclass
                        """)
                    if waiting.int64(0, 0) ?? 0 > 0 { break }
                    usleep(50_000)
                }
                program.send(SIGKILL)
                #expect(try program.wait().code == nil)
                try connection.execute("ROLLBACK")
            }
        }
    }

    private func code(_ response: Value) -> String? {
        response["errors", 0, "extensions", "code"]?.string
    }

    @Test func movesAnAccountBetweenClustersAlthoughItIsKilled() async throws {
        let world = try await World.make()
        let shown = try await world.titles(world.hereServer)
        #expect(shown["errors"] == nil)

        let dry = try await world.run("--dry-run", "--json")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(try await world.titles(world.hereServer) == shown)
        let unconfirmed = try await world.run()
        #expect(unconfirmed.code == 64 && unconfirmed.errors.contains("--yes"))

        // Killed while the account is being closed, nothing has happened.
        try await world.killMove(waitingFor: "access_tokens", in: world.here.database)
        #expect(try await world.titles(world.hereServer) == shown)
        // Killed while the rows are being packed, and while they are being inserted, the account is in neither database.
        for (table, database) in [
            ("imports", world.here.database), ("imports", world.there.database),
        ] {
            try await world.killMove(waitingFor: table, in: database)
            let refused = try await world.titles(world.hereServer)
            #expect(code(refused) == "SERVICE_UNAVAILABLE", "\(refused)")
            #expect(code(try await world.titles(world.thereServer)) == "UNAUTHENTICATED")
        }
        for installation in [world.here, world.there] {
            let migrated = try await installation.admin("migrate", "up")
            #expect(migrated.code == 1)
            #expect(migrated.errors.contains("1 accounts are being moved, such as \(world.user)"))
        }
        let examined = try await world.here.admin("doctor", "--offline")
        #expect(examined.output.contains("1 accounts are being moved, such as \(world.user)"))
        let deleted = try await world.here.admin("account", "delete", world.user, "--yes")
        #expect(deleted.code == 1 && deleted.errors.contains("is being moved"), "\(deleted.errors)")
        let undone = try await world.run("--undo")
        #expect(undone.code == 0, "\(undone.errors)")
        #expect(try await world.titles(world.hereServer) == shown)

        // Killed in its last step, the account is in the other database.
        try await world.killMove(waitingFor: "imports", in: world.there.database)
        try await world.killMove(
            waitingFor: "account_moves", in: world.here.database, mode: "SHARE")
        #expect(try await world.titles(world.thereServer) == shown)
        let tooEarly = try await world.run("--undo")
        #expect(tooEarly.code == 1 && tooEarly.errors.contains("has arrived"), "\(tooEarly.errors)")
        let moved = try await world.run("--yes", "--json")
        #expect(moved.code == 0, "\(moved.errors)")
        #expect(try parseJSON(Array(moved.output.utf8))["dryRun"] == false)
        #expect(try await world.titles(world.thereServer) == shown)
        #expect(code(try await world.titles(world.hereServer)) == "UNAUTHENTICATED")
        let tooLate = try await world.run("--undo")
        #expect(tooLate.code == 1)
        #expect(tooLate.errors.contains("is not being moved"))
        // It continues without an effect.
        #expect(try await world.run("--yes").code == 0)

        // Its cover can be downloaded and replaced there, and the files are sound.
        let cover = try await world.thereServer.client.send(
            "GET", "/book-covers/\(world.user)/\(world.book).jpg")
        #expect(cover.status == 200)
        let verified = try await world.there.admin(["storage", "verify"])
        #expect(verified.code == 0, "\(verified.output)")
        let put = try await world.thereServer.client.send(
            "PUT", "/book-covers/\(world.user)/\(world.book).jpg", token: world.token,
            bytes: TestImage.png(width: 700, height: 1000, seed: 2))
        #expect(put.status == 200, "\(put.body)")
        // The audit log names the operator and the move.
        let audit = try await world.here.admin("audit", "list", "--kind", "ACCOUNT_LEFT", "--json")
        #expect(audit.output.contains(world.user))
    }
}
