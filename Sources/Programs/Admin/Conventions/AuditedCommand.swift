import ArgumentParser
import Config
import Glibc
import Operations
import Postgres

/// A command that is recorded in the audit log: it changes something, or reads all data of a reader.
protocol AuditedCommand: ParsableCommand {
    /// Whether this run is recorded. Dry runs are not.
    var isAudited: Bool { get }
}

/// A command with the option `--dry-run` of `DryRunOptions`.
protocol TransactionCommand: AuditedCommand {
    var dryRunOptions: DryRunOptions { get }
}

extension TransactionCommand {
    var isAudited: Bool { !dryRunOptions.dryRun }
}

/// A command with a flag `--dry-run` of its own.
protocol DryRunCommand: AuditedCommand {
    var dryRun: Bool { get }
}

extension DryRunCommand {
    var isAudited: Bool { !dryRun }
}

extension Account.Delete: TransactionCommand {}
extension Account.Export: AuditedCommand { var isAudited: Bool { true } }
extension Backfill.Authors: DryRunCommand {}
extension Backfill.Covers: DryRunCommand {}
extension Backfill.Editions: DryRunCommand {}
extension Backfill.Similar: DryRunCommand {}
extension Backfill.Thumbnails: DryRunCommand {}
extension Catalog.AddAlias: TransactionCommand {}
extension Catalog.Import: DryRunCommand {}
extension Catalog.MergeWorks: TransactionCommand {}
extension Catalog.Refresh: DryRunCommand {}
extension Catalog.SearchAlias.Add: TransactionCommand {}
extension Catalog.SearchAlias.Remove: TransactionCommand {}
extension Catalog.SplitWorks: TransactionCommand {}
extension Catalog.UndoWorks: TransactionCommand {}
extension Doctor: AuditedCommand { var isAudited: Bool { fix && !dryRun } }
extension Documents.Prune: TransactionCommand {}
extension Documents.Sync: TransactionCommand {}
extension Jobs.Purge: TransactionCommand {}
extension Jobs.Retry: TransactionCommand {}
extension Keys.Rotate: DryRunCommand {}
extension Migrate.Up: DryRunCommand {}
extension OAuth.Client.Add: TransactionCommand {}
extension OAuth.Client.Remove: TransactionCommand {}
extension Readers.Import: DryRunCommand {}
extension Session.Revoke: TransactionCommand {}
extension Storage.Copy: DryRunCommand {}
extension Storage.Gc: TransactionCommand {}
extension Storage.Verify: AuditedCommand { var isAudited: Bool { fix } }
extension Tenant.Add: TransactionCommand {}
extension Tenant.Provider.Add: TransactionCommand {}
extension Tenant.Provider.Remove: TransactionCommand {}
extension Tenant.Remove: DryRunCommand {}
extension Tenant.Update: TransactionCommand {}
extension Token.Issue: TransactionCommand {}
extension Token.Revoke: TransactionCommand {}
extension Webhook.Add: TransactionCommand {}
extension Webhook.Enable: TransactionCommand {}
extension Webhook.Remove: TransactionCommand {}
extension Webhook.Retry: TransactionCommand {}
extension Webhook.RotateSecret: TransactionCommand {}

/// Adds a finished command to the audit log. If that fails, the command has still done its work, so only a warning is printed.
func recordInAuditLog(_ command: any ParsableCommand, succeeded: Bool) {
    guard let command = command as? any AuditedCommand, command.isAudited,
        let configuration = try? loadConfiguration(), configuration.database.adminURL != nil
    else { return }
    do {
        try AuditLog.recordCommand(
            Array(CommandLine.arguments.dropFirst()), succeeded: succeeded,
            try connect(configuration))
    } catch {
        let reason = Failure(error)?.message ?? "\(error)"
        printError("warning: the command is not in the audit log: \(reason)")
    }
}

/// The name of the operating system's user. After `sudo`, the user who logged in is also named, if the system records that.
func operatorName() -> String {
    func name(_ id: uid_t) -> String {
        guard let entry = getpwuid(id), let name = entry.pointee.pw_name else { return "\(id)" }
        return String(cString: name)
    }
    let effective = name(geteuid())
    var digits = [UInt8](repeating: 0, count: 16)
    let file = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return effective }
    defer { close(file) }
    let count = read(file, &digits, digits.count)
    guard count > 0,
        let login = uid_t(String(decoding: digits.prefix(count), as: UTF8.self)),
        login != .max, login != geteuid()
    else { return effective }
    return "\(name(login)) as \(effective)"
}
