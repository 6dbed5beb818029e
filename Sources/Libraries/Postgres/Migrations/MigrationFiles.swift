import Glibc

/// The migrations of a folder: versioned files, and repeatable files in the subfolder `functions`.
package struct MigrationFiles: Sendable {
    /// The versioned migrations, in the order of their versions.
    package let versioned: [MigrationFile]
    /// The repeatable migrations in the order in which they are applied: each file comes after its requirements, and
    /// otherwise they are ordered by name.
    package let repeatable: [RepeatableFile]

    /// Reads the files of a folder. Files that do not end in `.sql` are ignored, and so is the dump.
    ///
    /// - Throws: `.unreadable`, and the errors of `init(texts:)`.
    package init(folder: String) throws(MigrationError) {
        var texts: [(path: String, text: String)] = []
        for name in try namesOfSQLFiles(in: folder) where name != MigrationFile.dumpName {
            texts.append((name, try textOfFile("\(folder)/\(name)")))
        }
        let functions = "\(folder)/\(RepeatableFile.folderName)"
        if access(functions, F_OK) == 0 {
            for name in try namesOfSQLFiles(in: functions) {
                let path = "\(RepeatableFile.folderName)/\(name)"
                texts.append((path, try textOfFile("\(folder)/\(path)")))
            }
        }
        try self.init(texts: texts)
    }

    /// Creates migrations from the texts of their files.
    ///
    /// - Parameter texts: The texts with the paths of the files, relative to the folder.
    /// - Throws: `.badName`, `.missingReason`, `.duplicateVersion`, `.badRepeatableName`, `.badRequirements`,
    ///   `.unknownRequirement`, and `.requirementCycle`.
    package init(texts: [(path: String, text: String)]) throws(MigrationError) {
        let folder = RepeatableFile.folderName + "/"
        var versioned: [MigrationFile] = []
        var repeatable: [RepeatableFile] = []
        for (path, text) in texts.sorted(by: { $0.path < $1.path }) {
            if path.hasPrefix(folder) {
                let name = path.dropFirst(folder.count).dropLast(".sql".count)
                repeatable.append(try RepeatableFile(name: String(name), sql: text))
                continue
            }
            let file = try MigrationFile(fileName: path, sql: text)
            if let previous = versioned.last, previous.version == file.version {
                throw .duplicateVersion(previous.fileName, file.fileName)
            }
            versioned.append(file)
        }
        self.versioned = versioned
        self.repeatable = try RepeatableFile.ordered(repeatable)
    }
}
