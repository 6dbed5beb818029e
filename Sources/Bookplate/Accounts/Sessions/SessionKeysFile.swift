import Glibc
import Identity

extension SessionKeys {
    /// The keys of a file, which is made where there is none and `makesMissing` says so.
    ///
    /// Two programs that start at once end with the same keys: the second to make the file reads it.
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
