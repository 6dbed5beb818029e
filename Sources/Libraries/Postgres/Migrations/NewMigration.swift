import Glibc

extension MigrationFile {
    /// Creates a migration whose version is the current time.
    ///
    /// If the newest migration was created in this second, waits for the next one.
    ///
    /// - Parameter title: A verb and a noun, such as `add cover digest`. Spaces and hyphens become `_`.
    /// - Throws: `.badName`, or `.datedInTheFuture` if the newest migration is later than the current time.
    package static func next(
        _ title: String, reason: String, in folder: String
    ) throws(MigrationError) -> MigrationFile {
        let newest = try MigrationFiles(folder: folder).versioned.last
        if let newest, newest.version > now() { throw .datedInTheFuture(newest.fileName) }
        while now() == newest?.version { usleep(10_000) }
        return try MigrationFile(
            fileName: "\(now())_\(migrationName(title)).sql", sql: "-- Why: \(reason)\n")
    }

    /// Writes the file, which must not exist yet.
    ///
    /// - Returns: The path of the file.
    package func write(in folder: String) throws(MigrationError) -> String {
        let path = "\(folder)/\(fileName)"
        try writeNewFile(path, sql)
        return path
    }

    /// The current UTC time in the form of a version.
    static func now() -> Int64 {
        var second = time(nil)
        var date = tm()
        gmtime_r(&second, &date)
        return [
            Int64(date.tm_year) + 1900, Int64(date.tm_mon) + 1, Int64(date.tm_mday),
            Int64(date.tm_hour), Int64(date.tm_min), Int64(date.tm_sec),
        ].reduce(0) { $0 * 100 + $1 }
    }
}

extension RepeatableFile {
    /// Creates a repeatable migration that contains only a comment.
    ///
    /// - Parameter title: A noun, such as `covers`. Spaces and hyphens become `_`.
    /// - Throws: `.badRepeatableName`.
    package static func next(_ title: String) throws(MigrationError) -> RepeatableFile {
        let name = migrationName(title)
        return try RepeatableFile(
            name: name,
            sql: """
                -- Functions, triggers, policies, and grants of \(name). This file is applied again when it changes.

                """)
    }

    /// Writes the file, which must not exist yet. Creates the folder of the repeatable files if necessary.
    ///
    /// - Returns: The path of the file.
    package func write(in folder: String) throws(MigrationError) -> String {
        let path = "\(folder)/\(fileName)"
        let functions = "\(folder)/\(Self.folderName)"
        guard mkdir(functions, 0o777) == 0 || errno == EEXIST else {
            throw .unreadable(functions, errorText(errno))
        }
        try writeNewFile(path, sql)
        return path
    }
}

private func migrationName(_ title: String) -> String {
    String(title.lowercased().map { " -".contains($0) ? "_" : $0 })
}
