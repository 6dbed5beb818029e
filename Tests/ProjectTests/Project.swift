import FoundationEssentials

/// The files of this checkout.
enum Project {
    static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")

    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }

    /// The paths below the folders, relative to the root, that end with one of the extensions. A path of a file is returned
    /// as it is.
    static func files(_ paths: [String], _ extensions: [String]) throws -> [String] {
        var found: [String] = []
        for path in paths {
            var isFolder = false
            guard FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder)
            else { continue }
            guard isFolder else {
                found.append(path)
                continue
            }
            for name in try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(path)")
            where extensions.contains(where: { name.hasSuffix($0) }) && !name.contains(".build/") {
                found.append("\(path)/\(name)")
            }
        }
        return found.sorted()
    }
}
