import GraphQL

/// A client of incremental delivery: applies the parts to the first one, and checks that they follow the protocol.
struct MergedParts {
    private(set) var data: Value
    private(set) var errors: [Value]
    private(set) var hasNext: Bool
    private var pending: [String: [Value]] = [:]
    private var announced: Set<String> = []
    private let text: String

    init(_ first: Value, hasRest: Bool, _ text: String) {
        self.text = text
        data = first["data"] ?? .null
        errors = first["errors"]?.list ?? []
        hasNext = first["hasNext"]?.boolean ?? false
        check(hasNext == hasRest, "the first part has a wrong hasNext", text)
        announce(first)
        check(hasNext == !pending.isEmpty, "the first part announces nothing", text)
    }

    private mutating func announce(_ part: Value) {
        for entry in part["pending"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            check(announced.insert(id).inserted, "\(id) is announced twice", text)
            pending[id] = entry["path"]?.list ?? []
        }
    }

    mutating func add(_ part: Value) {
        check(hasNext, "a part follows the last one", text)
        hasNext = part["hasNext"]?.boolean ?? false
        announce(part)
        for entry in part["incremental"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            guard let path = pending[id] else { fatalError("unknown id \(id): \(text)") }
            errors += entry["errors"]?.list ?? []
            let added = entry["items"] ?? entry["data"] ?? .null
            data.add(added, at: (path + (entry["subPath"]?.list ?? []))[...], text)
        }
        for entry in part["completed"]?.list ?? [] {
            let id = entry["id"]?.string ?? ""
            check(pending.removeValue(forKey: id) != nil, "unknown id \(id)", text)
            errors += entry["errors"]?.list ?? []
        }
        check(hasNext == !pending.isEmpty, "hasNext is wrong", text)
    }

    func end() { check(!hasNext, "there is no last part", text) }
}

extension Value {
    /// The value with the members of all objects in alphabetical order.
    var sorted: Value {
        switch self {
        case .list(let items): .list(items.map(\.sorted))
        case .object(let members):
            .object(
                members.map { .init($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }

    /// Appends items to the list at a path, or adds members to the object there.
    fileprivate mutating func add(_ added: Value, at path: ArraySlice<Value>, _ text: String) {
        switch (self, path.first, added) {
        case (.list(let items), nil, .list(let new)): self = .list(items + new)
        case (.object(let members), nil, .object(let new)):
            for member in new {
                check(self[member.name] == nil, "\(member.name) is delivered twice", text)
            }
            self = .object(members + new)
        case (.list(var items), .int(let index)?, _) where items.indices.contains(index):
            items[index].add(added, at: path.dropFirst(), text)
            self = .list(items)
        case (.object(var members), .string(let name)?, _):
            guard let index = members.firstIndex(where: { $0.name == name }) else {
                fatalError("the client does not know \(name): \(text)")
            }
            members[index].value.add(added, at: path.dropFirst(), text)
            self = .object(members)
        default: fatalError("the client has no such value: \(text)")
        }
    }
}
