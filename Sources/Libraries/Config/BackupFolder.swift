import Glibc

extension Configuration {
    /// The folder with the backups that `scripts/backup` makes, each a folder of its own.
    package struct BackupFolder: Sendable, Equatable {
        package let path: String

        /// Returns when the database of the newest complete backup was copied, as a Unix time; nil if there is no complete backup,
        /// or if the folder cannot be read.
        package func newestTime() -> Int? {
            guard let folder = opendir(path) else { return nil }
            defer { closedir(folder) }
            var newest: Int?
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                var status = stat()
                guard !name.hasPrefix("."), !name.hasSuffix(".unfinished"),
                    stat("\(path)/\(name)/database.dump", &status) == 0
                else { continue }
                newest = max(newest ?? 0, Int(status.st_mtim.tv_sec))
            }
            return newest
        }
    }
}
