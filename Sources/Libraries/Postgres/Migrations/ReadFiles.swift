import Glibc

/// Returns the names in a folder that end in `.sql`, sorted.
///
/// - Throws: `.unreadable`.
func namesOfSQLFiles(in folder: String) throws(MigrationError) -> [String] {
    guard let directory = opendir(folder) else { throw .unreadable(folder, errorText(errno)) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name.hasSuffix(".sql") { names.append(name) }
    }
    return names.sorted()
}

/// Returns the text of a file.
///
/// - Throws: `.unreadable`, also if the file is not UTF-8.
func textOfFile(_ path: String) throws(MigrationError) -> String {
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

/// Whether a text may be the name of a migration: lower-case letters, digits, and underscores.
func isMigrationName(_ name: some StringProtocol) -> Bool {
    !name.isEmpty
        && name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
}

/// Writes a new file.
///
/// - Throws: `.unreadable`, also if the file exists.
func writeNewFile(_ path: String, _ text: String) throws(MigrationError) {
    guard let file = fopen(path, "wx") else { throw .unreadable(path, errorText(errno)) }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw .unreadable(path, errorText(errno)) }
}
