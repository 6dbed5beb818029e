extension ValidationContext {
    /// Returns the groups of two or more nodes with the same name, in the order of their first
    /// appearance.
    mutating func groupsWithSameName<Node: NamedNode>(_ nodes: some Collection<Node>) -> [[Node]] {
        guard hasDuplicateNames(nodes) else { return [] }
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

    private mutating func hasDuplicateNames<Node: NamedNode>(_ nodes: some Collection<Node>) -> Bool
    {
        names.removeAll(namesCount: self.namesCount)
        for node in nodes where !names.insert(node.nameID) { return true }
        return false
    }
}
