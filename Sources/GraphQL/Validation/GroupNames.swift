extension ValidationContext {
    /// The groups of two or more nodes of one name, in the order of their first appearance.
    mutating func groupsOfSame<Node: NamedNode>(_ nodes: some Collection<Node>) -> [[Node]] {
        guard hasSame(nodes) else { return [] }
        var groups: [[Node]] = []
        var indices: [NameID: Int] = [:]
        for node in nodes {
            if let index = indices[node.nameID] {
                groups[index].append(node)
            } else {
                indices[node.nameID] = groups.count
                groups.append([node])
            }
        }
        return groups.filter { $0.count > 1 }
    }

    private mutating func hasSame<Node: NamedNode>(_ nodes: some Collection<Node>) -> Bool {
        names.removeAll(namesCount: self.namesCount)
        for node in nodes where !names.insert(node.nameID) { return true }
        return false
    }
}
