import Glibc

extension MigrationFile {
    /// Creates a migration whose version is the current time, or one more than the newest version if the
    /// clock is behind it.
    ///
    /// - Parameter title: A verb and a noun, such as `add cover digest`. Spaces and hyphens become `_`.
    /// - Throws: `.badName`.
    package static func next(
        _ title: String, reason: String, in folder: String
    ) throws(MigrationError) -> MigrationFile {
        let name = String(title.lowercased().map { " -".contains($0) ? "_" : $0 })
        let newest = try all(in: folder).last?.version ?? 0
        return try MigrationFile(
            fileName: "\(max(newest + 1, now()))_\(name).sql", sql: "-- Why: \(reason)\n")
    }

    /// Writes the file, which must not exist yet.
    ///
    /// - Returns: The path of the file.
    package func write(in folder: String) throws(MigrationError) -> String {
        let path = "\(folder)/\(fileName)"
        guard let file = fopen(path, "wx") else { throw .unreadable(path, errorText(errno)) }
        let isWritten = fputs(sql, file) >= 0
        guard fclose(file) == 0, isWritten else { throw .unreadable(path, errorText(errno)) }
        return path
    }

    /// The current UTC time in the form of a version.
    private static func now() -> Int64 {
        var second = time(nil)
        var date = tm()
        gmtime_r(&second, &date)
        return [
            Int64(date.tm_year) + 1900, Int64(date.tm_mon) + 1, Int64(date.tm_mday),
            Int64(date.tm_hour), Int64(date.tm_min), Int64(date.tm_sec),
        ].reduce(0) { $0 * 100 + $1 }
    }
}
