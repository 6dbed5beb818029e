/// What the rules share during one walk: the schema, the document, and the types at the place the walk has reached.
struct ValidationContext {
    let schema: Schema
    let document: Document
    let options: ValidationOptions
    let fragments: FragmentTable
    let operationsCount: Int
    /// Made when the first rule asks for it.
    lazy var references = FragmentReferences(fragments)
    /// Fragments that the operations reach, by the index of the operation in the document; the walk fills it.
    var reachedFragments: [Int: [Int]] = [:]

    // MARK: - Where the walk stands

    /// Index of the definition in the document.
    var definitionIndex = 0
    /// The composite type whose fields the current selection set selects; nil where it is unknown.
    var parentType: TypeDefinition?
    /// The named type of the current field, or the type a fragment applies to.
    var type: TypeDefinition?
    /// The field whose arguments, directives and selections are walked; nil where it is unknown.
    var field: FieldDefinition?
    /// The directive whose arguments are walked; nil outside directives and where it is unknown.
    var directive: DirectiveDefinition?
    /// Whether directives are walked, known or not.
    var isInDirective = false
    /// The definition of the current argument; nil where it is unknown.
    var argument: InputValueDefinition?
    /// What the current value must be; nil where that is unknown.
    var input: InputPlace?

    /// Variables used in each definition, by its index; the walk fills it.
    var variableUsages: [[VariableUsage]]

    /// What every message begins with.
    var messagePrefix = ""
    /// For whoever needs a set of names just now.
    var names = NameSet()

    private var fields = NameMemory<(definition: FieldDefinition?, type: TypeDefinition?)>()
    private var inputs = NameMemory<InputPlace?>()
    private var faultlessFields = NameMemory<Void>()

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

    /// How many different names the document has.
    var namesCount: Int { document.tree.names.count }

    /// Goes to a field of the parent type.
    mutating func select(_ field: Field) {
        guard let parentType else {
            (self.field, type) = (nil, nil)
            return
        }
        if let known = fields.meaning(of: field.nameID, in: parentType) {
            (self.field, type) = known
            return
        }
        lookUp(field, of: parentType)
        fields.remember((self.field, type), of: field.nameID, in: parentType)
    }

    private mutating func lookUp(_ field: Field, of type: TypeDefinition) {
        self.field = schema.field(named: field.nameText, of: type)
        self.type = self.field.flatMap { schema.type(named: $0.namedType) }
    }

    /// The place of an argument's or an input field's value.
    mutating func inputPlace(of node: some NamedNode, in owner: some InputOwner) -> InputPlace? {
        if let known = inputs.meaning(of: node.nameID, in: owner) { return known }
        let found = owner.input(named: node.nameText).map { InputPlace($0, in: schema) }
        inputs.remember(found, of: node.nameID, in: owner)
        return found
    }

    /// Whether rules had nothing to say about a plain field of that name and type, so that they have not about another.
    func isFaultless(_ field: Field, of type: TypeDefinition) -> Bool {
        faultlessFields.meaning(of: field.nameID, in: type) != nil
    }

    /// Runs the rules for a plain field, and remembers where they had nothing to say.
    mutating func checkPlain(
        _ field: Field, of type: TypeDefinition, by check: (inout ValidationContext) -> Void
    ) {
        let reportsCount = reports.count
        lookUp(field, of: type)
        check(&self)
        if reports.count == reportsCount {
            faultlessFields.remember((), of: field.nameID, in: type)
        }
    }

    func suggestion(for name: String, among options: @autoclosure () -> [String]) -> String {
        suggestion(hasSuggestions ? suggestionList(name, options()) : [])
    }

    /// ` Did you mean …?`, or nothing where there is nothing to suggest.
    func suggestion(_ names: @autoclosure () -> [String], lead: String? = nil) -> String {
        hasSuggestions ? didYouMean(names(), lead: lead) : ""
    }

    private var hasSuggestions: Bool { options.hasSuggestions }

    // MARK: - Errors

    /// Enough errors: the walk may end.
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

    /// Runs `body` for errors that belong behind those of the current definition's own nodes.
    mutating func afterDefinition(_ index: Int, _ body: (inout ValidationContext) -> Void) {
        definitionIndex = index
        reportedAfterDefinition = true
        body(&self)
        reportedAfterDefinition = false
    }

    /// The errors in the order of the definitions, at most `errorsMax` and one that says there are more.
    func errors() -> [GraphQLError] {
        // Stable: those of one definition keep the order in which they were found.
        let ordered = reports.enumerated().sorted {
            ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
        }
        let told = ordered.prefix(options.errorsMax).map(\.element)
        let locations = document.source.locations(
            at: told.lazy.flatMap { $0.ranges.lazy.map(\.start) })
        var errors = told.map { report in
            GraphQLError(
                report.message, locations: report.ranges.compactMap { locations[$0.start] },
                extensions: report.limit?.extensions
                    ?? [.init("code", .string("GRAPHQL_VALIDATION_FAILED"))])
        }
        if ordered.count > options.errorsMax {
            errors.append(
                GraphQLError(
                    "Too many validation errors, error limit reached. Validation aborted.",
                    extensions: [.init("code", .string("GRAPHQL_VALIDATION_FAILED"))]))
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

/// A limit that a document exceeds, for an error's extensions.
struct ExceededLimit {
    let name: String
    let max: Int

    var extensions: [Value.Member] {
        [
            .init("code", .string("OPERATION_TOO_COMPLEX")),
            .init("limit", .string(name)),
            .init("max", .int(max)),
        ]
    }
}

extension Schema {
    /// The field of a type, the introspection fields included.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Field-Selections
    public func field(named name: String, of type: TypeDefinition) -> FieldDefinition? {
        if let field = type.field(named: name) { return field }
        switch name {
        case "__typename" where type.isComposite: return IntrospectionTypes.typenameField
        case "__schema" where type === queryType: return IntrospectionTypes.schemaField
        case "__type" where type === queryType: return IntrospectionTypes.typeField
        default: return nil
        }
    }
}
