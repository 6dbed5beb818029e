import Glibc

extension Configuration {
    /// The configuration of this process: its environment, and below it a `.env` file where there is one.
    ///
    /// - Parameter file: a path; the file may be absent. A variable of the environment, be it empty, hides the file's.
    package static func load(file: String = ".env") throws(ConfigError) -> Configuration {
        var variables: [String: String] = [:]
        if let text = try read(file) {
            variables = try EnvironmentFile.parse(text, name: file)
        }
        return try Configuration(variables.merging(environment()) { _, outer in outer })
    }

    private static func environment() -> [String: String] {
        var variables: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    /// The text of a file; nil where there is none.
    private static func read(_ path: String) throws(ConfigError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ConfigError(path, "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }

        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw ConfigError(path, "cannot be read: \(String(cString: strerror(errno)))")
            }
            bytes += chunk[..<count]
            guard bytes.count <= 1 << 20 else { throw ConfigError(path, "is larger than 1 MiB") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigError(path, "is not UTF-8")
        }
        return text
    }
}
