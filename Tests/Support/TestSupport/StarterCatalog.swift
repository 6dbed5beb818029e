import FoundationEssentials

/// The real books of `scripts/catalog/starter.jsonl`, those with the most readers first.
package enum StarterCatalog {
    package static func lines(_ count: Int) throws -> [String] {
        let text = try String(
            contentsOf: URL(filePath: TestCluster.project + "/scripts/catalog/starter.jsonl"),
            encoding: .utf8)
        return text.split(separator: "\n").prefix(count).map(String.init)
    }
}
