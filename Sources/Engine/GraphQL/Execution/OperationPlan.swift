/// A planned operation: which fields are selected on which type, in which order, and how each is
/// resolved.
///
/// A plan is created once for a document, an operation, and the values of the variables in `@skip`
/// and `@include`. All requests with these values share it.
public final class OperationPlan: Sendable {
    /// Whether the operation is a query, a mutation, or a subscription.
    public let kind: OperationKind
    /// The name of the operation; nil if it is anonymous.
    public let name: String?
    /// The declarations of the variables.
    package let variables: NodeList<VariableDefinition>
    /// The schema that the operation was validated against.
    public let schema: Schema
    package let source: Source
    /// The codes of the engine's own errors in the responses.
    package let errorCodes: ErrorCodes
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
    /// Whether parts of the response are delivered later: an active `@defer` or `@stream`. Always false for a plan that
    /// was made for a single response.
    public let isIncremental: Bool
    /// The approximate memory of the plan.
    let bytes: Int

    /// - Parameters:
    ///   - selections: the root selection and its descendants, each before its own descendants.
    ///   - elements: the elements in the selections.
    init(
        operation: OperationDefinition, selections: [PlannedSelection], isIncremental: Bool,
        scopes: ScopeSet, elements: SchemaElementSet, schema: Schema, source: Source,
        errorCodes: ErrorCodes
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
        self.isIncremental = isIncremental
        self.schema = schema
        self.source = source
        self.errorCodes = errorCodes
        bytes = selections.reduce(Self.bytesOfPlan) { $0 + $1.bytes }
    }

    /// The memory of a plan without its selections.
    private static let bytesOfPlan = 1_000

    /// The selection on the root type.
    public var root: PlannedSelection { selections[0] }

    /// Returns the elements of the schema that a request uses. A selection on an interface uses the
    /// fields of the interface and of all its possible types.
    ///
    /// - Parameter variables: the variables of the request, before their coercion, which adds default
    ///   values. They must be valid.
    package func usedElements(variables: Value?) -> SchemaElementSet {
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
    /// The object type of the selected fields.
    public let type: TypeDefinition
    /// The selected fields.
    public let fields: [PlannedField]
    /// The positions of the loaded fields that are delivered together with the object, so that the
    /// executor does not visit the others.
    let loaded: [Int]
    /// How the fields that are delivered together with the object are written.
    let outputs: [FieldOutput]
    /// The JSON of all keys, concatenated: `{"title":,"author":`. The keys of each deferred part, and then those of `whole`,
    /// follow.
    let keys: [UInt8]
    /// The fields that are delivered later than the object. Empty without `@defer`.
    let deferredParts: [DeferredPart]
    /// All fields, for an object whose deferred parts are delivered with it. It has no `loaded` fields besides those of the
    /// deferred parts. Empty without deferred parts.
    let whole: DeferredPart
    /// The usages of `@defer` on fragments of this selection.
    let newDeferUsages: [DeferUsage]
    /// Whether each object of the selection has something that is delivered later.
    let hasDeferral: Bool

    /// The approximate memory of the selection. Loaders keep texts of statements for loaded fields.
    fileprivate var bytes: Int {
        fields.reduce(500) { $0 + ($1.load == nil ? 500 : 1_800) }
    }

    /// - Parameter deferred: the positions of the fields that are delivered later than the object, each with the usages of
    ///   `@defer` that deliver it.
    init(
        type: TypeDefinition, fields: [PlannedField],
        deferred: [(position: Int, owners: [DeferUsage])], newDeferUsages: [DeferUsage]
    ) {
        self.type = type
        self.fields = fields
        var keys: [UInt8] = []
        func makeOutputs(_ positions: [Int]) -> [FieldOutput] {
            positions.enumerated().map { index, position in
                let start = keys.count
                keys += (index == 0 ? "{\"" : ",\"").utf8
                keys += fields[position].selected.responseKey.utf8
                keys += "\":".utf8
                return FieldOutput(fields[position], at: position, key: start..<keys.count)
            }
        }
        var own = Array(fields.indices)
        var parts: [DeferredPart] = []
        if !deferred.isEmpty {
            let later = Set(deferred.map(\.position))
            own.removeAll(where: later.contains)
        }
        outputs = makeOutputs(own)
        loaded = own.filter { fields[$0].load != nil }
        for (_, owners) in deferred where !parts.contains(where: { $0.owners == owners }) {
            let positions = deferred.filter { $0.owners == owners }.map(\.position)
            parts.append(
                DeferredPart(
                    owners: owners, outputs: makeOutputs(positions),
                    loaded: positions.filter { fields[$0].load != nil }))
        }
        deferredParts = parts
        whole = DeferredPart(
            owners: [], outputs: parts.isEmpty ? [] : makeOutputs(Array(fields.indices)),
            loaded: parts.flatMap(\.loaded))
        self.keys = keys
        self.newDeferUsages = newDeferUsages
        hasDeferral = !newDeferUsages.isEmpty || !deferredParts.isEmpty
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

    private let keyStart: Int32
    private let keyEnd: Int32
    private let storedPosition: Int32
    let source: Source
    let isNonNull: Bool
    /// Whether a null without an error is an error.
    let mustHaveValue: Bool

    init(_ field: PlannedField, at position: Int, key: Range<Int>) {
        // The limits of documents and plans are far below 2^31.
        keyStart = Int32(key.lowerBound)
        keyEnd = Int32(key.upperBound)
        storedPosition = Int32(position)
        isNonNull = field.completion.isNonNull(at: 0)
        mustHaveValue = isNonNull || field.completion.isSemanticallyNonNull(at: 0)
        source =
            if field.selected.definition === IntrospectionTypes.typenameField {
                .typename
            } else if case .load = field.selected.resolver {
                .loaded
            } else {
                .batch
            }
    }

    /// The range of the key in `PlannedSelection.keys`: `{"key":` for the first field, `,"key":`
    /// for the others.
    var key: Range<Int> { Range(uncheckedBounds: (Int(keyStart), Int(keyEnd))) }

    /// The position of the field in the selection.
    var position: Int { Int(storedPosition) }
}

/// A field as selected by an operation. This is the input of `FieldLoader.prepare`.
public struct SelectedField: Sendable {
    /// The definition of the field in the schema.
    public let definition: FieldDefinition
    /// The object type on which the field is selected.
    public let parentType: TypeDefinition
    /// The alias, or the name if there is none.
    public let responseKey: String
    /// The selections on the field's values, one for each possible object type. Empty for leaves.
    public let selections: [PlannedSelection]
    /// The ranges of the field in the document. More than one if selections were merged.
    let locations: [SourceRange]
    let arguments: PlannedArguments
    /// The resolver of the field.
    public let resolver: FieldResolver

    /// The name of the field in the schema.
    public var name: String { definition.name }
}

/// A selected field with its prepared load.
public final class PlannedField: Sendable {
    /// The field, as its loader sees it.
    public let selected: SelectedField
    let load: (any PreparedLoad)?
    let completion: Completion
    /// The active `@stream` of a list field.
    let stream: StreamUsage?

    init(_ selected: SelectedField, stream: StreamUsage? = nil) {
        self.selected = selected
        self.stream = stream
        if case .load(let loader) = selected.resolver {
            load = loader.prepare(selected)
        } else {
            load = nil
        }
        completion = Completion(
            selected.definition.type,
            semanticNonNullLevels: selected.definition.appliedDirectives.semanticNonNullLevels)
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
    /// The nullable depths at which null without an error is an error, by `@semanticNonNull`.
    private let semanticNonNullLevels: [Int]
    /// The number of nested lists. It is 2 for `[[Int]!]`.
    let listDepth: Int

    init(_ type: TypeReference, semanticNonNullLevels: [Int] = []) {
        self.semanticNonNullLevels = semanticNonNullLevels
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

    func isSemanticallyNonNull(at depth: Int) -> Bool { semanticNonNullLevels.contains(depth) }
}
