/// A node of a syntax tree. The meaning of `detail` and `name` depends on `kind`.
struct Node: Sendable {
    var kind: NodeKind
    /// Additional information: the kind of an operation, the value of a boolean, whether a string
    /// is a block string, whether a type definition is an extension, and so on.
    var detail: UInt8 = 0
    /// The ID of the node's name, or the index of a string's value in `SyntaxTree.strings`. -1 if
    /// there is none.
    var name: Int32 = -1
    /// The offset of the name, which may follow a description or an alias.
    var nameStart: Int32 = 0
    var start: Int32
    var end: Int32 = 0
    /// The index after the last descendant of the node.
    var next: Int32 = 0

    var internedName: InternedName { InternedName(id: name, start: nameStart) }

    @inline(always)
    mutating func setName(_ name: InternedName) {
        self.name = name.id
        nameStart = name.start
    }
}

/// The ID of a name, and the offset of one occurrence of it.
struct InternedName {
    let id: Int32
    let start: Int32
}

/// The kind of a node. `represents(_:)` relies on the order of the cases.
package enum NodeKind: UInt8, Sendable {
    case operation, fragmentDefinition
    case schemaDefinition, directiveDefinition
    case scalarType, objectType, interfaceType, unionType, enumType, inputObjectType

    case description
    case variableDefinition, selectionSet, field, alias, fragmentSpread, inlineFragment
    case argument, directive

    case variable, int, float, string, boolean, null, enumeration, list, object
    case objectField

    case namedType, listType

    case operationType, fieldDefinition, inputValueDefinition, enumValueDefinition
    case directiveLocation
}
