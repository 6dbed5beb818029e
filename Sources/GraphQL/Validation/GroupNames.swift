/// The groups of two or more equal names, in the order of their first appearance.
///
/// Few names are compared in pairs, which is cheaper than hashing them; many are hashed.
func groupsOfSame(_ names: [Name]) -> [[Name]] {
    guard names.count > 1, hasSame(names) else { return [] }
    var groups: [[Name]] = []
    var indices: [String: Int] = [:]
    for name in names {
        if let index = indices[name.value] {
            groups[index].append(name)
        } else {
            indices[name.value] = groups.count
            groups.append([name])
        }
    }
    return groups.filter { $0.count > 1 }
}

private func hasSame(_ names: [Name]) -> Bool {
    guard names.count <= 8 else { return Set(names).count < names.count }
    for index in names.indices.dropFirst() where names[..<index].contains(names[index]) {
        return true
    }
    return false
}
