/// A planned operation: which fields are selected on which type, in which order, and how each is
/// resolved.
///
/// A plan is created once for a document, an operation, and the values of the variables in `@skip`
/// and `@include`. All requests with these values share it.
public final class OperationPlan: Sendable {
    public let kind: OperationKind
    public let name: String?
    /// The declarations of the variables.
    public let variables: NodeList<VariableDefinition>
    public let schema: Schema
    public let source: Source
    /// The scopes that a caller needs in order to run the operation: those of all planned fields.
    public let scopes: ScopeSet
    /// The elements of the schema that the document uses, apart from the values of variables.
    private let elements: SchemaElementSet
    /// The variables whose types are input objects or enums, or lists of them, with the index of the
    /// type in `SchemaElements`.
    private let inputVariables: [(name: String, input: Int)]
    /// All selections, each before its descendants. Because they are released in this order,
    /// releasing one never releases a chain of others recursively. A plan can be nested as deeply
    /// as a document has fragments.
    private let selections: [PlannedSelection]

    /// - Parameters:
    ///   - selections: the root selection and its descendants, each before its own descendants.
    ///   - elements: the elements in the selections.
    init(
        operation: OperationDefinition, selections: [PlannedSelection], scopes: ScopeSet,
        elements: SchemaElementSet, schema: Schema, source: Source
    ) {
        var elements = elements
        var inputVariables: [(name: String, input: Int)] = []
        for variable in operation.variables {
            guard let input = schema.elements.input(ofType: variable.type.namedType) else {
                continue
            }
            inputVariables.append((variable.name.value, input))
            if let value = variable.defaultValue {
                schema.elements.mark(value, of: input, in: &elements)
            }
        }
        self.scopes = scopes
        self.elements = elements
        self.inputVariables = inputVariables
        kind = operation.kind
        name = operation.name?.value
        variables = operation.variables
        self.selections = selections
        self.schema = schema
        self.source = source
    }

    public var root: PlannedSelection { selections[0] }

    /// Returns the elements of the schema that a request uses. A selection on an interface uses the
    /// fields of the interface and of all its possible types.
    ///
    /// - Parameter variables: the variables of the request, before their coercion, which adds default
    ///   values. They must be valid.
    public func usedElements(variables: Value?) -> SchemaElementSet {
        guard let variables, !inputVariables.isEmpty else { return elements }
        var used = elements
        for (name, input) in inputVariables {
            if let value = variables[name] { schema.elements.mark(value, of: input, in: &used) }
        }
        return used
    }
}

/// The fields selected on one object type, in the order of the response.
public final class PlannedSelection: Sendable {
    public let type: TypeDefinition
    public let fields: [PlannedField]
    /// The positions of the loaded fields, so that the executor does not visit the others.
    let loaded: [Int]
    /// How each field is written, indexed by position.
    let outputs: [FieldOutput]
    /// The JSON of all keys, concatenated: `{"title":,"author":`.
    let keys: [UInt8]

    init(type: TypeDefinition, fields: [PlannedField]) {
        self.type = type
        self.fields = fields
        loaded = fields.indices.filter { fields[$0].load != nil }
        var keys: [UInt8] = []
        outputs = fields.map { field in
            let start = keys.count
            keys += (start == 0 ? "{\"" : ",\"").utf8
            keys += field.selected.responseKey.utf8
            keys += "\":".utf8
            return FieldOutput(field, key: start..<keys.count)
        }
        self.keys = keys
    }
}

/// The data that `ResponseCompletion` needs to write a field. It is compact because it is read once
/// per object.
struct FieldOutput: Sendable {
    enum Source {
        /// The object's batch writes the value.
        case batch
        case loaded
        case typename
    }

    /// The range of the key in `PlannedSelection.keys`: `{"key":` for the first field, `,"key":`
    /// for the others.
    let key: Range<Int>
    let source: Source
    let isNonNull: Bool

    init(_ field: PlannedField, key: Range<Int>) {
        self.key = key
        isNonNull = field.completion.isNonNull(at: 0)
        source =
            if field.selected.definition === IntrospectionTypes.typenameField {
                .typename
            } else if case .load = field.selected.resolver {
                .loaded
            } else {
                .batch
            }
    }
}

/// A field as selected by an operation. This is the input of `FieldLoader.prepare`.
public struct SelectedField: Sendable {
    public let definition: FieldDefinition
    /// The object type on which the field is selected.
    public let parentType: TypeDefinition
    public let responseKey: String
    /// The selections on the field's values, one for each possible object type. Empty for leaves.
    public let selections: [PlannedSelection]
    /// The ranges of the field in the document. More than one if selections were merged.
    let locations: [SourceRange]
    let arguments: PlannedArguments
    public let resolver: FieldResolver

    public var name: String { definition.name }

    /// The arguments if they are the same for every request; nil if they depend on variables or are
    /// invalid.
    public var constantArguments: ArgumentValues? {
        if case .constant(let values) = arguments { values } else { nil }
    }
}

/// A selected field with its prepared load.
public final class PlannedField: Sendable {
    public let selected: SelectedField
    let load: (any PreparedLoad)?
    let completion: Completion

    init(_ selected: SelectedField) {
        self.selected = selected
        if case .load(let loader) = selected.resolver {
            load = loader.prepare(selected)
        } else {
            load = nil
        }
        completion = Completion(selected.definition.type)
    }
}

/// Arguments that are known when the operation is planned, that must be coerced with the variables
/// of each request, or that are invalid.
enum PlannedArguments: Sendable {
    case constant(ArgumentValues)
    case variable(NodeList<Argument>)
    case invalid(GraphQLError)
}

/// The list and non-null wrappers around a field's named type.
struct Completion: Sendable {
    /// Bit n is set if values at list depth n are non-nullable. Only bit 1 is set for `[[Int]!]`.
    private let nonNull: UInt64
    /// The non-nullable depths from 64 on, for types with that many nested lists.
    private let nonNullBelow: Set<Int>
    /// The number of nested lists. It is 2 for `[[Int]!]`.
    let listDepth: Int

    init(_ type: TypeReference) {
        var nonNull: UInt64 = 0
        var below: Set<Int> = []
        var depth = 0
        var rest = type
        while true {
            switch rest {
            case .nonNull(let inner, _):
                if depth < 64 { nonNull |= 1 << UInt64(depth) } else { below.insert(depth) }
                rest = inner
            case .list(let item, _):
                depth += 1
                rest = item
            case .named:
                self.nonNull = nonNull
                nonNullBelow = below
                listDepth = depth
                return
            }
        }
    }

    func isNonNull(at depth: Int) -> Bool {
        depth < 64 ? nonNull & (1 << UInt64(depth)) != 0 : nonNullBelow.contains(depth)
    }
}
