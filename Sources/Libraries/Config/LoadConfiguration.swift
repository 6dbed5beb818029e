import Glibc

extension Configuration {
    /// Reads the configuration of this process from its environment and from a `.env` file.
    ///
    /// - Parameter file: The path of the file, which may be absent.
    package static func load(file: String = ".env") throws(ConfigError) -> Configuration {
        var variables: [String: String] = [:]
        if let text = try read(file) {
            variables = try EnvironmentFile.parse(text, name: file)
        }
        return try Configuration(merged(environment(), over: variables))
    }

    /// Merges the variables of the environment and of the file.
    ///
    /// A variable of the environment takes precedence over the file's, even if it is empty. Variables that Kubernetes adds for
    /// a Service are ignored, so with `BOOKPLATE_PORT=tcp://10.0.0.1:8080` the port comes from the file or is the default.
    static func merged(
        _ environment: [String: String], over file: [String: String]
    ) -> [String: String] {
        file.merging(environment.filter { !ServiceLinks.contain($0.key, $0.value) }) { $1 }
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

    /// Returns the text of a file, or nil if it does not exist.
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
