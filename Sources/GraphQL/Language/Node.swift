/// One node of a tree; what its numbers mean depends on its kind.
struct Node: Sendable {
    var kind: NodeKind
    /// The kind of an operation, the value of a boolean, whether a string is a block, a type an extension, …
    var detail: UInt8 = 0
    /// The number of its name; for strings the index of its value in `SyntaxTree.strings`. -1 where there is none.
    var name: Int32 = -1
    /// Where the name starts, which may be behind a description or an alias.
    var nameStart: Int32 = 0
    var start: Int32
    var end: Int32 = 0
    /// The index behind everything below the node.
    var next: Int32 = 0

    var numberedName: NumberedName { NumberedName(number: name, start: nameStart) }

    @inline(always)
    mutating func setName(_ name: NumberedName) {
        self.name = name.number
        nameStart = name.start
    }
}

/// The number of a name, and where it starts.
struct NumberedName {
    let number: Int32
    let start: Int32
}

/// What a node is.
public enum NodeKind: UInt8, Sendable {
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
