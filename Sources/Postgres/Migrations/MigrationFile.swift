import Glibc

/// A file in `migrations/`, named `<UTC time>_<name>.sql`. Its first line states its reason.
package struct MigrationFile: Sendable, Equatable {
    /// The UTC time in the file's name as the number `YYYYMMDDhhmmss`. Migrations run in this order.
    package let version: Int64
    /// The rest of the file's name, for example `add_cover_digest`.
    package let name: String
    /// The text after `-- Why: ` on the first line.
    package let reason: String
    package let sql: String

    /// Creates a migration from a file's name and contents.
    ///
    /// - Throws: `.badName` or `.missingReason`.
    package init(fileName: String, sql: String) throws(MigrationError) {
        let parts = fileName.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard fileName.hasSuffix(".sql"), parts.count == 2, parts[0].utf8.count == 14,
            parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let version = Int64(parts[0])
        else { throw .badName(fileName) }
        let name = parts[1].dropLast(".sql".count)
        guard !name.isEmpty, name.utf8.allSatisfy(MigrationFile.isNameByte) else {
            throw .badName(fileName)
        }
        let firstLine = sql.prefix { !$0.isNewline }
        guard firstLine.hasPrefix("-- Why: "), firstLine.count > "-- Why: ".count else {
            throw .missingReason(fileName)
        }
        self.version = version
        self.name = String(name)
        self.reason = String(firstLine.dropFirst("-- Why: ".count))
        self.sql = sql
    }

    package var fileName: String { "\(version)_\(name).sql" }

    /// Whether the file runs in one transaction, which is the case unless it has a line `-- no-transaction`.
    ///
    /// A migration without a transaction starts over after an interruption, so each of its statements must
    /// be safe to run again.
    package var isTransactional: Bool {
        !sql.split(whereSeparator: \.isNewline).contains("-- no-transaction")
    }

    /// Returns all migrations of a folder, in order. Files that do not end in `.sql` are ignored.
    ///
    /// - Throws: `.unreadable`, `.badName`, `.missingReason`, `.duplicateVersion`.
    package static func all(in folder: String) throws(MigrationError) -> [MigrationFile] {
        var files: [MigrationFile] = []
        for fileName in try fileNames(in: folder).filter({ $0.hasSuffix(".sql") }).sorted() {
            let sql = try contents(of: folder + "/" + fileName)
            let file = try MigrationFile(fileName: fileName, sql: sql)
            if let previous = files.last, previous.version == file.version {
                throw .duplicateVersion(previous.fileName, file.fileName)
            }
            files.append(file)
        }
        return files
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func fileNames(in folder: String) throws(MigrationError) -> [String] {
        guard let directory = opendir(folder) else { throw .unreadable(folder, errorText(errno)) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    private static func contents(of path: String) throws(MigrationError) -> String {
        guard let file = fopen(path, "r") else { throw .unreadable(path, errorText(errno)) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
            bytes += chunk.prefix(count)
        }
        guard ferror(file) == 0 else { throw .unreadable(path, errorText(errno)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .unreadable(path, "not UTF-8")
        }
        return text
    }
}
