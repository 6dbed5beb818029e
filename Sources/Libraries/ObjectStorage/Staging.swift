import Synchronization

/// The staging folder of this process. It is created on first use and locked until the process ends.
final class Staging: Sendable {
    let name: String
    private let made = Mutex<Folder?>(nil)

    init() {
        var random = SystemRandomNumberGenerator()
        name = String(random.next(), radix: 16)
    }

    func folder(in stagings: Folder) throws(ObjectError) -> Folder {
        let result = made.withLock { made -> Result<Folder, ObjectError> in
            if let made { return .success(made) }
            do throws(ObjectError) {
                while true {
                    let folder = try stagings.makeFolder(name)
                    // A sweep may have locked and removed the folder before it was locked here.
                    guard folder.lock(), try stagings.folder(name) != nil else { continue }
                    made = folder
                    return .success(folder)
                }
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension PendingWrite {
    /// The name of the write's staging folder. Equal title cards have the same version, so the name includes the object.
    var stagingName: String {
        "\(version).\(key.bucket.rawValue).\(key.folder).\(key.name)"
    }

    /// Returns the version of the write with a staging folder.
    static func version(inStaging name: String) -> String {
        String(name.prefix { $0 != "." })
    }
}
