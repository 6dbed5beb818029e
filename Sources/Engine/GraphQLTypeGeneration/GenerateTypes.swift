import GraphQL

/// Generates the Swift source for a schema.
///
/// - An object type `Book` becomes the protocol `BookFields`, to which the Swift type `Book` of the program conforms. A field
///   that returns leaves and has no arguments is a property. Every other field, and a field with the directive `@batch`, is a
///   static function that gets all objects of a level.
/// - A root type becomes a protocol with a function for each field.
/// - An interface or union becomes a protocol without requirements, which the protocols of its possible types inherit.
/// - Enums and input objects become enums and structs.
/// - The initializer of `ExecutableSchema` registers them all.
package func generateTypes(_ files: SchemaFiles) throws(SchemaFiles.Failure) -> String {
    let schema = try files.schema()
    let problems = try problems(of: schema, files)
    guard problems.isEmpty else { throw files.failure(problems) }
    let generator = TypeGenerator(schema: schema)
    var code = Code()
    code.add("// Generated from \(files.files.map(\.name).joined(separator: ", ")). Do not edit.")
    code.add("\nimport GraphQL")
    for type in schema.types where !type.name.hasPrefix("__") { generator.add(type, to: &code) }
    generator.addSchema(files.text, to: &code)
    return code.text
}

/// Returns what has no equivalent in Swift, with the location of its definition.
private func problems(
    of schema: Schema, _ files: SchemaFiles
) throws(SchemaFiles.Failure) -> [GraphQLError] {
    let source = Source(files.text)
    var problems: [GraphQLError] = []
    let document: Document
    do throws(GraphQLError) {
        document = try parse(source, limits: .trusted)
    } catch {
        throw files.failure([error])
    }
    for case .typeSystem(.type(let type)) in document.definitions {
        let name = type.name.value
        func report(_ message: String, at range: SourceRange) {
            problems.append(
                GraphQLError(message, locations: [source.location(at: range.start)]))
        }
        let owner = name.hasSuffix("Fields") ? schema.type(named: String(name.dropLast(6))) : nil
        if let owner, case .object = owner.kind {
            report(
                "The protocol for the fields of \"\(owner.name)\" has the name \"\(name)\" too.",
                at: type.name.range)
        }
        if usedNames.contains(name) {
            report("The generated code needs the name \"\(name)\".", at: type.name.range)
        }
        guard case .object(_, let fields) = type.body else { continue }
        for field in fields where schema.isRoot(field.type.namedType) {
            report(
                "The field \"\(name).\(field.name.value)\" returns a root type, which has no objects.",
                at: field.name.range)
        }
    }
    return problems
}

/// The module of the engine, the associated types, and the generic parameters of generated code.
private let usedNames: Set = [
    "GraphQL", "Context", "QueryRoot", "MutationRoot", "SubscriptionRoot",
]

extension Schema {
    func isRoot(_ name: String) -> Bool {
        OperationKind.allCases.contains { rootType(of: $0)?.name == name }
    }
}

/// Generates the declarations of a schema.
struct TypeGenerator {
    let schema: Schema

    /// Adds the declaration of a type. Custom scalars have none.
    func add(_ type: TypeDefinition, to code: inout Code) {
        switch type.kind {
        case .scalar: break
        case .object(let fields):
            if let kind = OperationKind.allCases.first(where: {
                schema.rootType(of: $0)?.name == type.name
            }) {
                addRoot(type, fields, kind, to: &code)
            } else {
                addObject(type, fields, to: &code)
            }
        case .interface(let fields):
            code.add("")
            let kind = "The objects of the interface `\(type.name)`."
            code.document(type.description, kind)
            let parents = fields.interfaces.map(identifier)
            addMarker(type, parents, to: &code)
        case .union:
            code.add("")
            code.document(type.description, "The objects of the union `\(type.name)`.")
            addMarker(type, [], to: &code)
        case .enumeration(let values): addEnum(type, values, to: &code)
        case .inputObject(let input):
            if input.isOneOf {
                addOneOf(type, input, to: &code)
            } else {
                addInput(type, input, to: &code)
            }
        }
    }

    private func addMarker(_ type: TypeDefinition, _ parents: [String], to code: inout Code) {
        let parents = parents.isEmpty ? [schema.standard("Sendable")] : parents
        code.add("protocol \(identifier(type.name)): \(parents.joined(separator: ", ")) {}")
    }

    // MARK: Objects

    private func addObject(_ type: TypeDefinition, _ fields: FieldsType, to code: inout Code) {
        code.add("")
        code.document(
            type.description,
            "The fields of the type `\(type.name)`. The Swift type `\(type.name)` conforms to this protocol."
        )
        let abstract = schema.types.filter { abstract in
            abstract.isAbstract
                && schema.possibleTypes(of: abstract).contains { $0.name == type.name }
        }
        let parents =
            abstract.isEmpty
            ? [schema.standard("Sendable")] : abstract.map { identifier($0.name) }
        code.block("protocol \(type.name)Fields: \(parents.joined(separator: ", "))") { code in
            if hasContext(type) { addContext(to: &code) }
            for (index, field) in fields.fields.enumerated() {
                if index > 0 || hasContext(type) { code.add("") }
                let returned = field.type.swiftType(schema)
                if isProperty(field) {
                    code.document(field.description, deprecation(field.deprecationReason))
                    code.add("var \(identifier(field.name)): \(returned) { get }")
                } else {
                    code.document(
                        field.description, deprecation(field.deprecationReason),
                        argumentDescriptions(field),
                        "- Returns: One value for each object, in the same order.")
                    code.add(
                        Code.list(
                            "static func \(identifier(field.name))(",
                            ["of objects: [Self]"] + parameters(field),
                            ") async throws -> [\(returned)]"))
                }
            }
        }
    }

    /// Whether a field is a property of its object in Swift.
    private func isProperty(_ field: FieldDefinition) -> Bool {
        let isLoaded = field.appliedDirectives.contains { $0.name.value == "batch" }
        return !isLoaded && field.arguments.isEmpty
            && schema.type(named: field.namedType)?.isLeaf == true
    }

    /// Whether the protocol of an object type has a context: its batches get it.
    private func hasContext(_ type: TypeDefinition) -> Bool {
        type.fieldsType?.fields.allSatisfy(isProperty) == false
    }

    private func addContext(to code: inout Code) {
        code.document("The context of requests. The compiler infers it from the functions.")
        code.add(
            "associatedtype Context: GraphQL.ExecutionContext & \(schema.standard("Sendable")) = GraphQL.NoContext"
        )
    }

    private func parameters(_ field: FieldDefinition) -> [String] {
        let arguments = field.arguments.map { argument in
            // The names of the other parameters are taken.
            let isTaken = ["objects", "request"].contains(argument.name)
            let name = identifier(argument.name) + (isTaken ? " \(argument.name)Argument" : "")
            return "\(name): \(argument.type.swiftType(schema))"
        }
        return arguments + ["_ request: GraphQL.FieldRequest<Context>"]
    }

    /// Returns the documentation of the arguments that have a description.
    private func argumentDescriptions(_ field: FieldDefinition) -> String? {
        let lines = field.arguments.compactMap { argument in
            argument.description.map { description in
                let lines = description.split(whereSeparator: \.isLineBreak)
                return "  - \(argument.name): \(lines.joined(separator: " "))"
            }
        }
        return lines.isEmpty ? nil : "- Parameters:\n" + lines.joined(separator: "\n")
    }

    private func deprecation(_ reason: String?) -> String? { reason.map { "Deprecated: \($0)" } }

    // MARK: Roots

    private func addRoot(
        _ type: TypeDefinition, _ fields: FieldsType, _ kind: OperationKind, to code: inout Code
    ) {
        code.add("")
        code.document(
            type.description,
            "The fields of the \(kind.rawValue) root type `\(type.name)`.")
        code.block("protocol \(type.name)Fields: \(schema.standard("Sendable"))") { code in
            addContext(to: &code)
            for field in fields.fields {
                code.add("")
                var returned = field.type.swiftType(schema)
                if kind == .subscription {
                    code.document("The events of `\(field.name)`.")
                    let events = "\(schema.standard("AsyncSequence"))"
                    code.add(
                        "associatedtype \(eventsName(field)): \(events) & \(schema.standard("SendableMetatype"))"
                    )
                    code.add("where \(eventsName(field)).Element == \(returned)\n")
                    returned = eventsName(field)
                }
                code.document(
                    field.description, deprecation(field.deprecationReason),
                    argumentDescriptions(field))
                code.add(
                    Code.list(
                        "func \(identifier(field.name))(", parameters(field),
                        ") async throws -> \(returned)"))
            }
        }
    }

    private func eventsName(_ field: FieldDefinition) -> String {
        field.name.prefix(1).uppercased() + field.name.dropFirst() + "Events"
    }

    // MARK: Enums and inputs

    private func addEnum(
        _ type: TypeDefinition, _ values: [EnumValueDefinition], to code: inout Code
    ) {
        let string = schema.standard("String")
        let others = ["CaseIterable", "Sendable"].map(schema.standard).joined(separator: ", ")
        code.add("")
        code.document(type.description, "The values of the enum `\(type.name)`.")
        code.block(
            "enum \(identifier(type.name)): \(string), GraphQL.LeafValue, GraphQL.InputValue, \(others)"
        ) { code in
            for (value, name) in zip(values, caseNames(values.map(\.name))) {
                code.document(value.description, deprecation(value.deprecationReason))
                code.add("case \(name) = \"\(value.name)\"")
            }
        }
    }

    private func addInput(
        _ type: TypeDefinition, _ input: InputObjectType, to code: inout Code
    ) {
        let fields = input.fields
        let recursive = Set(fields.filter { isRecursive($0, in: type.name) }.map(\.name))
        code.add("")
        code.document(type.description, "The values of the input object `\(type.name)`.")
        code.block("struct \(identifier(type.name)): \(schema.standard("Sendable"))") { code in
            for field in fields {
                let name = identifier(field.name)
                let swiftType = field.type.swiftType(schema)
                code.document(field.description, deprecation(field.deprecationReason))
                guard recursive.contains(field.name) else {
                    code.add("var \(name): \(swiftType)")
                    continue
                }
                // A struct cannot contain a value of its own type, but an array of them.
                let storage = "\(field.name)Storage"
                code.block("var \(name): \(swiftType)") { code in
                    code.add("get { \(storage).first }")
                    code.add("set { \(storage) = newValue.map { [$0] } ?? [] }")
                }
                code.add(
                    "private var \(storage): [\(field.type.swiftTypeOfNonNull(schema))] = []")
            }
            guard !recursive.isEmpty else { return }
            let parameters = fields.map { field in
                "\(identifier(field.name)): \(field.type.swiftType(schema))"
                    + (field.type.isNonNull ? "" : " = nil")
            }
            code.add("")
            code.block(Code.list("init(", parameters, ")")) { code in
                for field in fields {
                    code.add("self.\(identifier(field.name)) = \(identifier(field.name))")
                }
            }
        }
        code.add("")
        addInputConformance(type, to: &code) { code in
            let values = fields.map { "\(label($0.name)): value.field(\"\($0.name)\")" }
            code.add(Code.list("try self.init(", values, ")"))
        }
    }

    private func addInputConformance(
        _ type: TypeDefinition, to code: inout Code, _ body: (inout Code) -> Void
    ) {
        code.block("extension \(identifier(type.name)): GraphQL.InputValue") { code in
            code.block("init(input value: GraphQL.Value) throws(GraphQL.CoercionError)", "}", body)
        }
    }

    private func addOneOf(
        _ type: TypeDefinition, _ input: InputObjectType, to code: inout Code
    ) {
        code.add("")
        code.document(
            type.description,
            "The values of the input object `\(type.name)`, which has exactly one field.")
        code.block("indirect enum \(identifier(type.name)): \(schema.standard("Sendable"))") {
            code in
            for field in input.fields {
                code.document(field.description, deprecation(field.deprecationReason))
                code.add(
                    "case \(identifier(field.name))(\(field.type.swiftTypeOfNonNull(schema)))")
            }
        }
        code.add("")
        addInputConformance(type, to: &code) { code in
            for field in input.fields {
                code.block("if value[\"\(field.name)\"] != nil") { code in
                    code.add(
                        "self = try .\(identifier(field.name))(value.field(\"\(field.name)\"))")
                    code.add("return")
                }
            }
            code.add("throw GraphQL.CoercionError(\"\(type.name) has exactly one field.\")")
        }
    }

    /// Whether values of an input object type may contain another value of the type in this field, without a list between them.
    private func isRecursive(_ field: InputValueDefinition, in name: String) -> Bool {
        var reached: Set<String> = []
        var pending = [field]
        while let field = pending.popLast() {
            if case .list = field.type { continue }
            if case .nonNull(.list, _) = field.type { continue }
            let type = field.type.namedType
            if type == name { return true }
            guard reached.insert(type).inserted,
                case .inputObject(let input)? = schema.type(named: type)?.kind, !input.isOneOf
            else { continue }
            pending += input.fields
        }
        return false
    }

    // MARK: The schema

    /// Adds the initializer of `ExecutableSchema`, and the functions that register the resolvers of each type.
    func addSchema(_ sdl: String, to code: inout Code) {
        let objects = schema.types.filter { type in
            guard case .object = type.kind else { return false }
            return !type.name.hasPrefix("__") && !schema.isRoot(type.name)
        }
        let roots = OperationKind.allCases.compactMap { kind in
            schema.rootType(of: kind).map { (kind: kind, type: $0) }
        }
        let parameters =
            roots.map { kind, _ in "\(kind.rawValue): \(root(kind))" }
            + ["hasIncrementalDelivery: \(schema.standard("Bool")) = false"]
        let generics = roots.map { kind, type in "\(root(kind)): \(type.name)Fields" }
        let contexts =
            roots.map { kind, _ in "\(root(kind)).Context == Context" }
            + objects.filter(hasContext).map { "\(identifier($0.name)).Context == Context" }
        code.add("")
        code.block("extension GraphQL.ExecutableSchema") { code in
            code.document(
                "Builds the schema with the resolvers of the program.",
                "- Parameters:\n"
                    + roots.map { "  - \($0.kind.rawValue): The resolvers of `\($0.type.name)`.\n" }
                    .joined()
                    + "  - hasIncrementalDelivery: Whether operations may use `@defer` and `@stream`."
            )
            let head = "init<\(generics.joined(separator: ", "))>("
            code.add(Code.list(head, parameters, ") throws(GraphQL.RequestErrors)"))
            code.add("where")
            code.block("    " + contexts.joined(separator: ",\n    "), "}") { code in
                let head = "try self.init("
                let arguments = [
                    "schemaText", "context: Context.self", "scalars: [\(scalars)]",
                    "hasIncrementalDelivery: hasIncrementalDelivery",
                ]
                code.block(Code.list(head, arguments, ")")) { code in
                    code.add("resolvers in")
                    for root in roots {
                        code.add(
                            "add\(root.type.name)(\(root.kind.rawValue), to: resolvers.\(root.kind.rawValue))"
                        )
                    }
                    for type in objects {
                        code.add("add\(type.name)(\(identifier(type.name)).self, to: resolvers)")
                    }
                }
            }
        }
        for root in roots { addRegistration(of: root.type, root.kind, to: &code) }
        for type in objects { addRegistration(of: type, to: &code) }
        addText(sdl, to: &code)
    }

    /// The input coercion of the custom scalars that are inputs.
    private var scalars: String {
        var names: Set<String> = []
        for type in schema.types where !type.name.hasPrefix("__") {
            for field in type.fieldsType?.fields ?? [] {
                names.formUnion(field.arguments.map(\.type.namedType))
            }
            if case .inputObject(let input) = type.kind {
                names.formUnion(input.fields.map(\.type.namedType))
            }
        }
        let scalars = schema.types.filter { type in
            guard case .scalar = type.kind, names.contains(type.name) else { return false }
            return !["Int", "Float", "String", "Boolean", "ID"].contains(type.name)
        }
        return scalars.isEmpty
            ? ":"
            : scalars.map { "\"\($0.name)\": \(identifier($0.name)).scalarInput" }
                .joined(separator: ", ")
    }

    private func addRegistration(
        of type: TypeDefinition, _ kind: OperationKind, to code: inout Code
    ) {
        let resolvers = kind == .subscription ? "SubscriptionResolvers" : "RootResolvers"
        code.add("")
        let parameters = ["_ root: Root", "to fields: GraphQL.\(resolvers)<Root.Context>"]
        code.block(
            Code.list(
                "private func add\(type.name)<Root: \(type.name)Fields>(", parameters, ")")
        ) { code in
            for field in type.fieldsType?.fields ?? [] {
                let function = kind == .subscription ? "stream" : "field"
                code.block("fields.\(function)(\"\(field.name)\")") { code in
                    let call = "try await root.\(identifier(field.name))("
                    code.add(Code.list(call, arguments(field, "$0") + ["$0"], ")"))
                }
            }
        }
    }

    private func addRegistration(of type: TypeDefinition, to code: inout Code) {
        let protocolName = "\(type.name)Fields"
        let generics =
            hasContext(type)
            ? "<Object: \(protocolName)>"
            : "<Object: \(protocolName), Context: GraphQL.ExecutionContext & \(schema.standard("Sendable"))>"
        let context = hasContext(type) ? "Object.Context" : "Context"
        code.add("")
        let parameters = [
            "_ type: Object.Type", "to resolvers: GraphQL.ResolverBuilder<\(context)>",
        ]
        code.block(Code.list("private func add\(type.name)\(generics)(", parameters, ")")) { code in
            code.add("let fields = resolvers.type(\"\(type.name)\", type)")
            for field in type.fieldsType?.fields ?? [] {
                let name = identifier(field.name)
                if isProperty(field) {
                    code.add("fields.field(\"\(field.name)\") { $0.\(name) }")
                } else {
                    code.block("fields.batch(\"\(field.name)\")") { code in
                        let arguments = ["of: $0"] + arguments(field, "$1") + ["$1"]
                        code.add(Code.list("try await Object.\(name)(", arguments, ")"))
                    }
                }
            }
        }
    }

    /// Returns the arguments of a call, which are converted from those of the request.
    private func arguments(_ field: FieldDefinition, _ request: String) -> [String] {
        field.arguments.map { argument in
            "\(label(argument.name)): \(request).arguments.value(\"\(argument.name)\")"
        }
    }

    /// Adds the schema as a raw string, with more `#` than the text contains after each other.
    private func addText(_ text: String, to code: inout Code) {
        var marks = "#"
        while text.contains(marks) { marks += "#" }
        code.add("\nprivate let schemaText = \(marks)\"\"\"")
        code.add(text + "\"\"\"\(marks)")
    }

    private func root(_ kind: OperationKind) -> String {
        kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst() + "Root"
    }
}
