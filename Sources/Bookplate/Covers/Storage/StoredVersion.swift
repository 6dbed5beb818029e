import ObjectStorage
import Postgres

/// A version of an object as the store has it: all its files.
struct StoredVersion {
    struct Name: Hashable {
        /// The object's, as text.
        let id: String
        let version: String
    }

    let key: ObjectKey
    let id: UUID
    let name: Name
    var byteCount: Int
}

/// The versions of a folder, a batch at a time.
struct StoredVersions {
    private var rest: ArraySlice<StoredVersion>

    init(_ files: [FolderListing.File]) {
        var versions: [StoredVersion.Name: StoredVersion] = [:]
        for file in files {
            let key = file.path.key
            guard let id = UUID(key.name) else { continue }
            let name = StoredVersion.Name(id: key.name, version: file.path.version)
            versions[name, default: .init(key: key, id: id, name: name, byteCount: 0)]
                .byteCount += file.byteCount
        }
        rest = Array(versions.values)[...]
    }

    mutating func next(_ countMax: Int) -> [StoredVersion]? {
        let batch = rest.prefix(countMax)
        rest = rest.dropFirst(countMax)
        return batch.isEmpty ? nil : Array(batch)
    }
}
