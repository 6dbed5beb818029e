import Glibc

/// A developer team's private key for Apple's REST API.
package struct AppleTeamKey: Sendable {
    /// The team's identifier, ten characters.
    package var teamID: String
    /// The key's identifier, ten characters, as shown next to the .p8 file in Apple's developer console.
    package var keyID: String
    /// The contents of the .p8 file: a P-256 private key in PEM.
    package var privateKeyPEM: [UInt8]

    package init(teamID: String, keyID: String, privateKeyPEM: [UInt8]) {
        self.teamID = teamID
        self.keyID = keyID
        self.privateKeyPEM = privateKeyPEM
    }
}

/// A .p8 file that cannot be used. The description is a clause that follows the path of the file.
package enum AppleKeyFileError: Error, Equatable, CustomStringConvertible {
    case unreadable(errno: Int32)
    case malformed

    package var description: String {
        switch self {
        case .unreadable(let code): "cannot be read: \(String(cString: strerror(code)))"
        case .malformed:
            "does not contain a private key that can sign for Apple: use the .p8 file from Apple's developer console"
        }
    }
}

extension AppleTeamKey {
    private static let fileBytesMax = 64 << 10

    /// Reads the key from a .p8 file, and checks that it can sign.
    package init(teamID: String, keyID: String, file path: String) throws(AppleKeyFileError) {
        guard let file = fopen(path, "r") else { throw .unreadable(errno: errno) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.fileBytesMax)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { throw .unreadable(errno: errno) }
        self.init(teamID: teamID, keyID: keyID, privateKeyPEM: Array(bytes[..<count]))
        let signed = libjwtSigned(
            [("iss", .text(teamID))], keyID: keyID, algorithm: .es256, material: privateKeyPEM)
        guard signed != nil else { throw .malformed }
    }
}
