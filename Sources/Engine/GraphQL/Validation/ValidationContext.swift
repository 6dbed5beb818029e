/// The state that the rules share while a document is walked: the schema, the document, and the
/// types at the current position.
struct ValidationContext {
    let schema: Schema
    let document: Document
    let options: ValidationOptions
    let fragments: FragmentTable
    let operationsCount: Int
    /// Created when a rule uses it for the first time.
    lazy var references = FragmentReferences(fragments)
    /// The fragments that each operation reaches, by the index of the operation in the document.
    /// Set by the walk.
    var reachedFragments: [Int: [Int]] = [:]

    // MARK: - The current position

    /// The index of the current definition in the document.
    var definitionIndex = 0
    /// The type on which the current selection set selects; nil if it is unknown.
    var parentType: TypeDefinition?
    /// The named type of the current field, or the type condition of the current fragment.
    var type: TypeDefinition?
    /// The definition of the current field; nil if it is unknown.
    var field: FieldDefinition?
    /// The definition of the current directive; nil if it is unknown or there is none.
    var directive: DirectiveDefinition?
    /// Whether the current position is in a directive, known or unknown.
    var isInDirective = false
    /// The definition of the current argument; nil if it is unknown.
    var argument: InputValueDefinition?
    /// The expected type of the current value; nil if it is unknown.
    var input: InputPosition?

    /// The variables used in each definition, by its index. Set by the walk.
    var variableUsages: [[VariableUsage]]

    /// The prefix of all messages.
    var messagePrefix = ""
    /// A set of names for temporary use.
    var names = NameSet()

    private var fields = NameCache<(definition: FieldDefinition?, type: TypeDefinition?)>()
    private var inputs = NameCache<InputPosition?>()
    private var validFields = NameCache<Void>()

    private var reports: [Report] = []
    private var reportedAfterDefinition = false

    init(schema: Schema, document: Document, options: ValidationOptions) {
        self.schema = schema
        self.document = document
        self.options = options
        fragments = FragmentTable(document)
        operationsCount = document.definitions.count {
            if case .operation = $0 { true } else { false }
        }
        variableUsages = Array(repeating: [], count: document.definitions.count)
    }

    // MARK: - Lookups

    /// The number of distinct names in the document.
    var namesCount: Int { document.tree.names.count }

    /// Makes a field of the parent type the current field.
    mutating func select(_ field: Field) {
        guard let parentType else {
            (self.field, type) = (nil, nil)
            return
        }
        if let known = fields.value(for: field.nameID, in: parentType) {
            (self.field, type) = known
            return
        }
        lookUp(field, of: parentType)
        fields.insert((self.field, type), for: field.nameID, in: parentType)
    }

    private mutating func lookUp(_ field: Field, of type: TypeDefinition) {
        self.field = schema.field(named: field.nameText, of: type)
        self.type = self.field.flatMap { schema.type(named: $0.namedType) }
    }

    /// Returns the expected type of the value of an argument or input field.
    mutating func inputPosition(of node: some NamedNode, in owner: some InputOwner)
        -> InputPosition?
    {
        if let known = inputs.value(for: node.nameID, in: owner) { return known }
        let found = owner.input(named: node.nameText).map { InputPosition($0, in: schema) }
        inputs.insert(found, for: node.nameID, in: owner)
        return found
    }

    /// Whether a plain field with this name and parent type was checked before without errors. The
    /// result is then the same for this field.
    func isKnownValid(_ field: Field, of type: TypeDefinition) -> Bool {
        validFields.value(for: field.nameID, in: type) != nil
    }

    /// Runs the rules for a plain field, and records if there were no errors.
    mutating func checkPlain(
        _ field: Field, of type: TypeDefinition, by check: (inout ValidationContext) -> Void
    ) {
        let reportsCount = reports.count
        lookUp(field, of: type)
        check(&self)
        if reports.count == reportsCount {
            validFields.insert((), for: field.nameID, in: type)
        }
    }

    func suggestion(for name: String, among options: @autoclosure () -> [String]) -> String {
        suggestion(hasSuggestions ? suggestionList(name, options()) : [])
    }

    /// Returns ` Did you mean …?`, or an empty string if there are no suggestions.
    func suggestion(_ names: @autoclosure () -> [String], lead: String? = nil) -> String {
        hasSuggestions ? didYouMean(names(), lead: lead) : ""
    }

    private var hasSuggestions: Bool { options.hasSuggestions }

    // MARK: - Errors

    /// Whether the error limit has been reached, so that the walk can stop.
    var isExhausted: Bool { reports.count > options.errorsMax }

    mutating func report(_ message: String, at ranges: SourceRange...) {
        report(message, at: ranges)
    }

    mutating func report(
        _ message: String, at ranges: [SourceRange], exceeding limit: ExceededLimit? = nil
    ) {
        reports.append(
            Report(
                definitionIndex: definitionIndex, isAfterDefinition: reportedAfterDefinition,
                message: messagePrefix + message, ranges: ranges, limit: limit))
    }

    /// Runs `body` and places its errors after those of the definition's own nodes.
    mutating func afterDefinition(_ index: Int, _ body: (inout ValidationContext) -> Void) {
        definitionIndex = index
        reportedAfterDefinition = true
        body(&self)
        reportedAfterDefinition = false
    }

    /// Returns the errors in the order of the definitions, at most `errorsMax` and one that reports
    /// that the limit was reached.
    func errors() -> [GraphQLError] {
        // A stable sort: the errors of one definition stay in the order in which they were found.
        let ordered = reports.enumerated().sorted {
            ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
        }
        let reported = ordered.prefix(options.errorsMax).map(\.element)
        let locations = document.source.locations(
            at: reported.lazy.flatMap { $0.ranges.lazy.map(\.start) })
        var errors = reported.map { report in
            GraphQLError(
                report.message, locations: report.ranges.compactMap { locations[$0.start] },
                kind: report.limit == nil ? .invalidDocument : .limitExceeded,
                extensions: report.limit?.extensions ?? [])
        }
        if ordered.count > options.errorsMax {
            errors.append(
                GraphQLError(
                    "Too many validation errors, error limit reached. Validation aborted.",
                    kind: .invalidDocument))
        }
        return errors
    }

    private struct Report {
        let definitionIndex: Int
        let isAfterDefinition: Bool
        let message: String
        let ranges: [SourceRange]
        let limit: ExceededLimit?

        var order: Int { 2 * definitionIndex + (isAfterDefinition ? 1 : 0) }
    }
}

/// An exceeded limit, which becomes part of an error's extensions.
struct ExceededLimit {
    let name: String
    let max: Int

    var extensions: [Value.Member] {
        [.init("limit", .string(name)), .init("max", .int(max))]
    }
}

extension Schema {
    /// Returns a field of a type. Introspection fields are included.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Field-Selections
    package func field(named name: String, of type: TypeDefinition) -> FieldDefinition? {
        if let field = type.field(named: name) { return field }
        switch name {
        case "__typename" where type.isComposite: return IntrospectionTypes.typenameField
        case "__schema" where type === queryType: return IntrospectionTypes.schemaField
        case "__type" where type === queryType: return IntrospectionTypes.typeField
        default: return nil
        }
    }
}
