import Basics
import Postgres

extension TenantRecord {
    /// Disables sign-in, deletes all accounts, and removes the tenant.
    ///
    /// Each account is deleted in its own transaction, so an interrupted removal can be repeated.
    ///
    /// - Parameters:
    ///   - beforeAccount: Called before each account. An error that it throws ends the removal.
    ///   - onAccount: Called after each account.
    /// - Throws: `AdministrationError`, or the error of `beforeAccount`.
    package func removeWithAccounts(
        _ connection: AdminConnection, beforeAccount: () throws -> Void, onAccount: () -> Void
    ) throws {
        try close(connection)
        // Read the accounts after sign-in is disabled, so that none is created in the meantime.
        for id in try accounts(connection) {
            try beforeAccount()
            try connection.inTransaction(mapping: AdministrationError.database) {
                () throws(AdministrationError) in
                _ = try AccountRecord.delete(id, connection)
            }
            onAccount()
        }
        try remove(connection)
    }
}
