import Glibc
import Identity

extension SessionKeys {
    /// Reads the keys of a file.
    ///
    /// If two programs start at the same time, only one creates the file and both read the same keys.
    ///
    /// - Parameter makesMissing: Whether to create the file if it does not exist.
    package init(file path: String, makesMissing: Bool) throws(SessionKeysError) {
        do throws(SessionKeysError) {
            try self.init(file: path)
        } catch {
            guard makesMissing, case .system(errno: 2) = error else { throw error }
            if let slash = path.lastIndex(of: "/") { mkdir(String(path[..<slash]), 0o700) }
            do throws(SessionKeysError) {
                try SessionKeys.generate().create(file: path)
            } catch .exists {}
            try self.init(file: path)
        }
    }
}
