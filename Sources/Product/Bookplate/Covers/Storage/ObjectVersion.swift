import ObjectStorage
import Postgres

/// A version of an object in the store, with all its files.
struct ObjectVersion {
    /// Identifies a version within its folder.
    struct Name: Hashable {
        /// The id of the object as text.
        let id: String
        let version: String
    }

    let key: ObjectKey
    let id: UUID
    let name: Name
    /// The total size of the version's files.
    var byteCount: Int
}

/// The object versions of a folder, in batches.
struct ObjectVersionBatches {
    private var rest: ArraySlice<ObjectVersion>

    init(_ files: [ObjectListing.File]) {
        var versions: [ObjectVersion.Name: ObjectVersion] = [:]
        for file in files {
            let key = file.path.key
            guard let id = UUID(key.name) else { continue }
            let name = ObjectVersion.Name(id: key.name, version: file.path.version)
            versions[name, default: .init(key: key, id: id, name: name, byteCount: 0)]
                .byteCount += file.byteCount
        }
        rest = Array(versions.values)[...]
    }

    mutating func next(_ countMax: Int) -> [ObjectVersion]? {
        let batch = rest.prefix(countMax)
        rest = rest.dropFirst(countMax)
        return batch.isEmpty ? nil : Array(batch)
    }
}
