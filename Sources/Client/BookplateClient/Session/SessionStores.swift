import Foundation

/// Stores the session in a file that only its owner can read. Use `KeychainSessionStore` on Apple's systems.
public struct FileSessionStore: SessionStore {
    private let file: URL

    /// - Parameter folder: the folder of the file. It is created when the session is saved.
    public init(folder: URL) { file = folder.appendingPathComponent("session.json") }

    /// Returns the stored session; nil if there is none.
    public func load() throws -> StoredSession? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try JSONDecoder().decode(StoredSession.self, from: Data(contentsOf: file))
    }

    /// Replaces the stored session; nil removes it.
    public func save(_ session: StoredSession?) throws {
        guard let session else {
            if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
            return
        }
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        // A new file replaces the old one, so a crash leaves one of them complete.
        let new = file.appendingPathExtension("new")
        try? FileManager.default.removeItem(at: new)
        guard
            FileManager.default.createFile(
                atPath: new.path, contents: try JSONEncoder().encode(session),
                attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forWritingTo: new)
        defer { try? handle.close() }
        try handle.synchronize()
        guard rename(new.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
}

#if canImport(Security)
    import Security

    /// Stores the session in the keychain of the device. It is not part of backups to other devices.
    public struct KeychainSessionStore: SessionStore {
        private let service: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: a name for the item, such as the bundle id of the app.
        ///   - accessGroup: the group of the app and its extensions, if they share the session.
        public init(service: String, accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        /// Returns the stored session; nil if there is none.
        public func load() throws -> StoredSession? {
            var query = item
            query[kSecReturnData] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = found as? Data else {
                throw BookplateError.keychain(status: status)
            }
            return try JSONDecoder().decode(StoredSession.self, from: data)
        }

        /// Replaces the stored session; nil removes it.
        public func save(_ session: StoredSession?) throws {
            guard let session else {
                let status = SecItemDelete(item as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw BookplateError.keychain(status: status)
                }
                return
            }
            let value: [CFString: Any] = [
                kSecValueData: try JSONEncoder().encode(session),
                // The sync loop also runs while the device is locked.
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(item as CFDictionary, value as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(
                    item.merging(value) { _, new in new } as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw BookplateError.keychain(status: status) }
        }

        private var item: [CFString: Any] {
            var item: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service,
                kSecAttrAccount: "session",
            ]
            if let accessGroup { item[kSecAttrAccessGroup] = accessGroup }
            return item
        }
    }
#endif
