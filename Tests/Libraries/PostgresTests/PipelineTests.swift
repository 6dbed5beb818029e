import Testing

@testable import Postgres

@Suite struct PipelineTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test func returnsTheRowsOfEachStatementInOrder() async throws {
        try await withPool(database) { pool async throws in
            let statistics = Statistics()
            var pipeline = Pipeline(statistics: statistics)
            for number in 0..<50 {
                var parameters = Parameters()
                parameters.append(int32: Int32(number))
                pipeline.append(Statement("SELECT $1 + \(number)"), parameters)
            }
            for run in 1...3 {
                let rows = try await pool.run(pipeline)
                #expect(rows.map { $0.int32(0, 0) } == (0..<50).map { Int32($0 * 2) })
                #expect(statistics.statementCount == 50 * run)
                #expect(statistics.roundTripCount == run)
            }
        }
    }

    @Test func emptyPipelineSendsNothing() async throws {
        try await withPool(database) { pool async throws in
            #expect(try await pool.run(Pipeline()).isEmpty)
            #expect(await pool.metrics().pipelineCount == 0)
        }
    }

    @Test func eachStatementSeesTheEffectsOfEarlierOnes() async throws {
        try await withPool(database) { pool async throws in
            var pipeline = Pipeline()
            pipeline.append("SELECT set_config('app.user_id', 'reader', true)")
            pipeline.append("SELECT current_setting('app.user_id', true)")
            #expect(try await pool.run(pipeline)[1].text(0, 0) == "reader")
            let after = try await pool.rows(
                "SELECT coalesce(current_setting('app.user_id', true), '')")
            #expect(after.text(0, 0) == "", "the setting must end with the pipeline")
        }
    }

    @Test func failureRollsBackItsPipelineOnly() async throws {
        try database.admin().execute("CREATE TABLE t (a int PRIMARY KEY)")
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            var failing = Pipeline()
            failing.append("INSERT INTO t VALUES (1)")
            failing.append("INSERT INTO t VALUES (1)")
            failing.append("INSERT INTO t VALUES (2)")
            let pipeline = failing
            async let before = pool.rows("INSERT INTO t VALUES (10)")
            async let failed = pool.run(pipeline)
            async let after = pool.rows("INSERT INTO t VALUES (11)")
            _ = try await (before, after)
            do {
                _ = try await failed
                Issue.record("the second statement must fail")
            } catch let error as PostgresError {
                guard case .server(let server) = error else { throw error }
                #expect(server.sqlState == .uniqueViolation)
                #expect(server.constraint == "t_pkey")
                #expect(server.table == "t")
                #expect(server.detail?.contains("(1)") == true)
                #expect(server.statementIndex == 1)
                #expect(error.hadNoEffect)
            }
            let rows = try await pool.rows("SELECT array_agg(a ORDER BY a)::text FROM t")
            #expect(rows.text(0, 0) == "{10,11}")
        }
    }

    @Test func reportsWhyAStatementCannotBePrepared() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statement = Statement("SELECT * FROM nowhere")
            // With several at once, only the first one prepares the statement.
            await withTaskGroup(of: PostgresError?.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        var pipeline = Pipeline()
                        pipeline.append("SELECT 1")
                        pipeline.append(statement)
                        do throws(PostgresError) {
                            _ = try await pool.run(pipeline)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                for await error in group {
                    guard case .server(let server)? = error else {
                        Issue.record("\(String(describing: error))")
                        continue
                    }
                    #expect(server.sqlState == .undefinedTable)
                    #expect(server.statementIndex == 1)
                }
            }
            try await database.asAdmin { try $0.execute("CREATE TABLE nowhere (a int)") }
            #expect(try await pool.run(.one(statement))[0].count == 0)
        }
    }

    @Test func deferredConstraintFailsAtCommit() async throws {
        try database.admin().execute(
            """
            CREATE TABLE parent (id int PRIMARY KEY);
            CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
            """)
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await pool.rows("INSERT INTO child VALUES (1)")
            }
            guard case .server(let server)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.sqlState == .foreignKeyViolation)
            #expect(server.statementIndex == nil)
            #expect(try await pool.rows("SELECT count(*) FROM child").int64(0, 0) == 0)
        }
    }

    @Test func preparesOneStatementPerListOfParameterTypes() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statement = Statement("SELECT pg_typeof($1)::text")
            var whole = Parameters()
            whole.append(int64: 1)
            var instant = Parameters()
            instant.append(timestamptz: 1)
            #expect(try await pool.run(.one(statement, whole))[0].text(0, 0) == "bigint")
            #expect(
                try await pool.run(.one(statement, instant))[0].text(0, 0)
                    == "timestamp with time zone")
        }
    }

    @Test func preparesAStatementAgainAfterItsTableChanged() async throws {
        try database.admin().execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statement = Statement("SELECT * FROM t")
            #expect(try await pool.run(.one(statement))[0].columnCount == 1)
            try await database.asAdmin { try $0.execute("ALTER TABLE t ADD b int DEFAULT 2") }
            #expect(try await pool.run(.one(statement))[0].columnCount == 2)
            _ = try await pool.rows("DEALLOCATE ALL")
            #expect(try await pool.run(.one(statement))[0].int32(0, 1) == 2)
            #expect(await pool.metrics().retryCount == 2)
        }
    }

    /// A pooler may give a connection a session in which another client has prepared the same statement.
    @Test func usesAStatementThatTheSessionAlreadyHas() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            let statement = Statement("SELECT 'the same' AS text")
            let name = PreparedStatements.Key(statement: statement.id, signature: 0).name
            _ = try await pool.rows("PREPARE \(name) AS SELECT 'the same' AS text")
            for _ in 0..<2 {
                #expect(try await pool.run(.one(statement))[0].text(0, 0) == "the same")
            }
        }
    }

    @Test func limitsThePreparedStatements() async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.preparedStatementsMax = 10
            }
        ) { pool async throws in
            let count: @Sendable () async throws -> Int64? = {
                try await pool.rows("SELECT count(*) FROM pg_prepared_statements").int64(0, 0)
            }
            for number in 0..<100 {
                #expect(
                    try await pool.rows("SELECT \(number)").int32(0, 0) == Int32(number))
            }
            #expect(
                try await count() == 11,
                "a statement is deallocated after the pipeline that evicts it")
            var wide = Pipeline()
            for number in 0..<40 { wide.append(Statement("SELECT \(number)")) }
            #expect(try await pool.run(wide).count == 40)
            #expect(try await count() == 11)
            let kept = Statement("SELECT 'kept'")
            for number in 0..<30 {
                _ = try await pool.run(.one(kept))
                _ = try await pool.rows("SELECT -\(number)")
            }
            let rows = try await pool.rows(
                "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT ''kept'''")
            #expect(rows.int64(0, 0) == 1)
        }
    }

    @Test(arguments: [ReadinessMethod.aio, .thread])
    func sendsLargeParametersAndReceivesLargeResults(readiness: ReadinessMethod) async throws {
        try await withPool(
            database,
            {
                $0.connectionCount = 1
                $0.readiness = readiness
            }
        ) { pool async throws in
            let text = String(repeating: "0123456789abcdef", count: 512 << 10)  // 8 MiB
            var parameters = Parameters()
            parameters.append(text: text)
            let statement = Statement("SELECT $1, length($1)")
            async let first = pool.run(.one(statement, parameters))
            async let second = pool.run(.one(statement, parameters))
            async let small = pool.rows("SELECT 1")
            #expect(try await first[0].text(0, 0) == text)
            #expect(try await second[0].int32(0, 1) == 8 << 20)
            #expect(try await small.int32(0, 0) == 1)
            let many = try await pool.rows(
                "SELECT g, repeat('x', 100) FROM generate_series(1, 200000) g")
            #expect(many.count == 200_000)
            #expect(many.int32(199_999, 0) == 200_000)
        }
    }

    @Test func rejectsPipelinesAboveTheLimits() async throws {
        try await withPool(database) { pool async throws in
            var wide = Pipeline()
            for _ in 0...Pipeline.statementsMax { wide.append("SELECT 1") }
            var long = Parameters()
            for _ in 0...Pipeline.parametersMax { long.append(int32: 1) }
            var heavy = Parameters()
            heavy.append(bytea: [UInt8](repeating: 0, count: Pipeline.parameterBytesMax + 1))
            for pipeline in [wide, .one("SELECT 1", long), .one("SELECT 1", heavy)] {
                let error = await #expect(throws: PostgresError.self) {
                    _ = try await pool.run(pipeline)
                }
                guard case .tooLarge? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            #expect(await pool.metrics().pipelineCount == 0)
        }
    }

    @Test func copyFailsAndTheNextPipelineSucceeds() async throws {
        try await withPool(database, { $0.connectionCount = 1 }) { pool async throws in
            await #expect(throws: PostgresError.self) {
                _ = try await pool.rows("COPY (SELECT 1) TO STDOUT")
            }
            #expect(try await pool.rows("SELECT 1").int32(0, 0) == 1)
        }
    }

    @Test func appliesTheSessionSettings() async throws {
        try await withPool(
            database,
            {
                $0.applicationName = "shelf"
                $0.statementTimeout = .milliseconds(1500)
            }
        ) { pool async throws in
            let rows = try await pool.rows(
                """
                SELECT current_setting('application_name'), current_setting('statement_timeout'),
                    current_setting('client_encoding'), current_setting('jit'),
                    current_setting('idle_in_transaction_session_timeout')
                """)
            #expect(
                (0..<5).map { rows.text(0, $0) } == ["shelf", "1500ms", "UTF8", "off", "10s"])
        }
    }

    @Test func canBeCalledFromAnyTask() async throws {
        try await withPool(database) { pool async throws in
            let rows = try await Task.detached { try await pool.rows("SELECT 1") }.value
            #expect(rows.int32(0, 0) == 1)
        }
    }
}
