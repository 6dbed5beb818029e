/// An operation made ready: which fields are asked of which type, in which order, and how each is resolved.
///
/// A tree of fields, not of values. Made once for a document, an operation and the values of the
/// variables that `@skip` and `@include` depend on; then shared by all requests.
public final class OperationPlan: Sendable {
    public let kind: OperationKind
    public let name: String?
    /// To coerce the request's variables by.
    public let variables: NodeList<VariableDefinition>
    public let schema: Schema
    public let source: Source
    /// Each before those below it. Freed in this order, none takes another with it: the plan may be as deep as a
    /// document has fragments.
    private let selections: [PlannedSelection]

    /// Takes the root selection and all below it, each before those below it.
    init(
        operation: OperationDefinition, selections: [PlannedSelection], schema: Schema,
        source: Source
    ) {
        kind = operation.kind
        name = operation.name?.value
        variables = operation.variables
        self.selections = selections
        self.schema = schema
        self.source = source
    }

    public var root: PlannedSelection { selections[0] }
}

/// The fields asked of one object type at one place, in response order.
public final class PlannedSelection: Sendable {
    public let type: TypeDefinition
    public let fields: [PlannedField]
    /// Positions of the fields that are loaded, so that a level touches only those.
    let loaded: [Int]
    /// By position: how each field is written.
    let outputs: [FieldOutput]
    /// The keys of all fields as they are written, one behind the other.
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

/// What writing a field's value needs, in numbers: it is asked for once for every object.
struct FieldOutput: Sendable {
    enum Source {
        /// The object has it.
        case batch
        case loaded
        case typename
    }

    /// Where the key stands in the selection's keys: `{"key":` for the first field, `,"key":` for the others.
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

/// A field as the operation asks for it: what a loader sees when it prepares.
public struct SelectedField: Sendable {
    public let definition: FieldDefinition
    /// The object type the field is asked of.
    public let parentType: TypeDefinition
    public let responseKey: String
    /// What is asked of the objects behind it: one selection for each possible type; none for leaves.
    public let selections: [PlannedSelection]
    /// Where the field stands; several places when selections were merged.
    let locations: [SourceRange]
    let arguments: PlannedArguments
    public let resolver: FieldResolver

    public var name: String { definition.name }

    /// The arguments, where they are the same for every request; nil where variables decide.
    public var constantArguments: ArgumentValues? {
        if case .constant(let values) = arguments { values } else { nil }
    }
}

/// A field with its loader prepared.
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

/// Arguments that are known, are to be coerced with the request's variables, or cannot be right.
enum PlannedArguments: Sendable {
    case constant(ArgumentValues)
    case variable(NodeList<Argument>)
    case invalid(GraphQLError)
}

/// The lists and non-nulls around a field's named type, outermost first.
struct Completion: Sendable {
    /// Bit n: the value at list depth n may not be null.
    private let nonNull: UInt64
    /// The same from depth 64 on, where there are lists as deep as that.
    private let nonNullBelow: Set<Int>

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
                return
            }
        }
    }

    func isNonNull(at depth: Int) -> Bool {
        depth < 64 ? nonNull & (1 << UInt64(depth)) != 0 : nonNullBelow.contains(depth)
    }
}
