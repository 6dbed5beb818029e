/// A batch of Swift values of one object type, the results of closures.
///
/// A ``FieldLoader`` of a field of this type gets such a batch as its parents: `parents as? Objects<Book>`.
public final class Objects<Object>: ObjectBatch {
    // The code is not specialized for `Object`, so each use of an array of objects would look up its metadata.
    private var storage = UnsafeMutablePointer<Object>.allocate(capacity: 1)
    private var capacity = 1
    /// The number of values.
    public private(set) var count = 0
    /// The selection that the values were returned for.
    public let boundSelection: PlannedSelection?
    /// The functions that write the selected leaves, by position; nil for the other fields.
    private let leaves: [LeafFunction?]

    /// - Parameter leaves: One element for each field of the selection.
    init(_ selection: PlannedSelection, _ leaves: [LeafFunction?]) {
        boundSelection = selection
        self.leaves = leaves
    }

    deinit {
        storage.deinitialize(count: count)
        storage.deallocate()
    }

    /// The values, in the order of the results.
    public var objects: [Object] { Array(UnsafeBufferPointer(start: storage, count: count)) }

    /// Calls the closure of the leaf, and writes its result.
    public func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        precondition(object >= 0 && object < count, "there is no such object")
        guard let leaf = leaves[field] else { return .null }
        return leaf.write(UnsafeRawPointer(storage + object), &writer)
    }

    func append(_ object: Object) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Object>.allocate(capacity: capacity * 2)
            larger.moveInitialize(from: storage, count: count)
            storage.deallocate()
            storage = larger
            capacity *= 2
        }
        (storage + count).initialize(to: object)
        count += 1
    }
}

/// Writes a leaf of an object as JSON.
typealias LeafWrite<Object> = @Sendable (Object, TypeDefinition, inout ResponseWriter) -> LeafResult

/// Writes a leaf of the object at an address, which has the type of its batch.
struct LeafFunction {
    let write: (UnsafeRawPointer, inout ResponseWriter) -> LeafResult

    init<Object>(_ write: @escaping LeafWrite<Object>, as type: TypeDefinition) {
        self.write = { object, writer in
            write(object.assumingMemoryBound(to: Object.self).pointee, type, &writer)
        }
    }
}

/// A batch to which a `ResultBuilder` adds values.
protocol GrowingBatch: ObjectBatch {
    /// Returns false, and adds nothing, if the value has another type.
    func append(_ value: Any) -> Bool
}

extension Objects: GrowingBatch {
    func append(_ value: Any) -> Bool {
        guard let object = value as? Object else { return false }
        append(object)
        return true
    }
}

/// The leaves of one field for all its parents.
final class Leaves<Leaf>: ObjectBatch {
    var values: [Leaf] = []
    private let writeLeaf: (Leaf, inout ResponseWriter) -> LeafResult

    init(_ type: TypeDefinition) where Leaf: LeafValue {
        writeLeaf = { $0.write(as: type, to: &$1) }
    }

    var count: Int { values.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        writeLeaf(values[object], &writer)
    }
}

extension Leaves: GrowingBatch {
    func append(_ value: Any) -> Bool {
        guard let leaf = value as? Leaf else { return false }
        values.append(leaf)
        return true
    }
}

/// The batch of a possible type without Swift values: its objects come from another loader.
final class NoObjects: GrowingBatch {
    let count = 0
    func append(_ value: Any) -> Bool { false }
    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult { .null }
}

/// The object types whose values are Swift values, by the name in the schema.
final class ObjectTypes: Sendable {
    let schema: Schema
    let types: [String: any ObjectType]

    init(_ schema: Schema, _ types: [String: any ObjectType]) {
        self.schema = schema
        self.types = types
    }

    /// Returns why Swift values of a type are not values of a type of the schema; nil if they may be.
    func problem(with swiftType: Any.Type, as name: String) -> String? {
        guard let definition = schema.type(named: name), definition.isComposite else {
            return "\(swiftType) is not a LeafValue"
        }
        let names = schema.possibleTypes(of: definition).map(\.name)
        let isPossible = names.contains {
            types[$0]?.swiftType == ObjectIdentifier(swiftType)
        }
        if isPossible { return nil }
        // A value of a protocol or a superclass has one of the possible types when it is returned.
        let isKnown = types.values.contains { $0.swiftType == ObjectIdentifier(swiftType) }
        if definition.isAbstract, !isKnown, !isValueType(swiftType) { return nil }
        return "\(swiftType) is not the Swift type of \"\(name)\""
    }
}

/// Returns whether a type is a struct, an enum, or a tuple. Its values then have no other type at run time, as those of
/// protocols and superclasses do.
private func isValueType(_ type: Any.Type) -> Bool {
    // The metadata of a type starts with its kind. The numbers are part of Swift's stable ABI (MetadataKind.def).
    let kind = unsafeBitCast(type, to: UnsafePointer<UInt>.self).pointee
    return kind == 0x200 || kind == 0x201 || kind == 0x301
}

/// An object type whose values are Swift values.
protocol ObjectType: Sendable {
    /// The identity of the Swift type.
    var swiftType: ObjectIdentifier { get }

    func makeBatch(_ selection: PlannedSelection, _ schema: Schema) -> any GrowingBatch
}

struct SwiftObjectType<Object>: ObjectType {
    /// The closures of leaves by the name of the field.
    var leaves: [String: LeafWrite<Object>] = [:]

    var swiftType: ObjectIdentifier { ObjectIdentifier(Object.self) }

    func makeBatch(_ selection: PlannedSelection, _ schema: Schema) -> any GrowingBatch {
        Objects<Object>(
            selection,
            selection.fields.map { field in
                guard let write = leaves[field.selected.name],
                    let type = schema.type(named: field.selected.definition.namedType)
                else { return nil }
                return LeafFunction(write, as: type)
            })
    }
}
