import Basics
import Bookplate
import Postgres

extension AccountRecord {
    /// The result of deleting an account.
    package struct Deleted: Sendable {
        package let id: UUID
        package let books: Int
        package let reviews: Int
        /// The jobs that delete the data outside the database. The servers run them.
        package let jobs: [UUID]
    }

    /// Deletes an account in the same way as its owner would, in the caller's transaction.
    ///
    /// Data outside the database is deleted by jobs, which the servers can start immediately after the commit.
    ///
    /// - Throws: `.refused` if there is no such account.
    package static func delete(
        _ id: UUID, _ connection: AdminConnection
    ) throws(AdministrationError) -> Deleted {
        let deletion = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query("SELECT lock_user($1)", .of(id))
            try connection.query("SELECT set_config('app.user_id', $1::text, true)", .of(id))
            return try AccountDeletion(on: connection)
        }
        guard let deletion else { throw missing(id) }
        return Deleted(
            id: id, books: deletion.books, reviews: deletion.reviews, jobs: deletion.jobs)
    }

    /// Returns how many of the jobs are not finished.
    package static func unfinished(
        _ jobs: [UUID], _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        var parameters = Parameters()
        parameters.append(uuids: jobs)
        let counts = try mappingError(AdministrationError.init) { () throws(PostgresError) in
            try connection.query("SELECT count(*) FROM jobs WHERE id = ANY($1)", parameters)
                .decode(Int64.self)
        }
        return Int(counts.first ?? 0)
    }
}
