import Bookplate
import Config
import GraphQL
import TestBasics
import TestSupport

/// A root field with its most expensive arguments, as many copies of it and as many objects as the limits allow.
///
/// It is generated from the schema, with the lengths and page sizes that the descriptions name, so that it includes fields that
/// are added later.
struct ExpensiveOperation: Sendable {
    /// The root field: `search`, or a field of the signed-in user, such as `me.books`.
    let field: String
    private let text: String
    private let variables: [Variable]
    private let inputs: ExpensiveInputs

    fileprivate struct Variable: Sendable {
        let name: String
        let argument: InputValueDefinition
        /// The number of the copy of the field.
        let copy: Int
    }

    /// The fields that no operation of JSON can call in an expensive way: they need a file.
    static let fieldsOfFiles: Set = ["importLibrary"]
    /// The fields that end the session or delete the account.
    static let finalFields: Set = ["deleteAccount", "signOut"]
    /// The maximum number of copies of a field. More copies of a field with a list of objects would exceed the size of a body.
    private static func copiesMax(_ field: FieldDefinition) -> Int {
        field.arguments.contains { $0.type.listItem != nil } ? 4 : 20
    }

    fileprivate init(
        field: String, text: String, variables: [Variable], inputs: ExpensiveInputs
    ) {
        self.field = field
        self.text = text
        self.variables = variables
        self.inputs = inputs
    }

    /// Returns a request with the objects of an account.
    func request(_ account: NeighbourAccount, _ number: Int) -> [UInt8] {
        var inputs = inputs
        while true {
            var objects = ExpensiveInputs.Objects(account, number)
            let members = variables.map {
                Value.Member($0.name, inputs.value(of: $0.argument, copy: $0.copy, &objects))
            }
            let request = account.post(text, .object(members))
            if request.count < Self.bodyBytesMax || inputs.itemsMax == 1 { return request }
            inputs.itemsMax /= 2
        }
    }

    private static let bodyBytesMax = Configuration.Limits().bodyBytesMax

    // MARK: - Generation

    /// Returns the operations of all root fields of queries and mutations: one for each way to nest two pages in the result.
    static func all(in schema: Schema) -> [ExpensiveOperation] {
        let generator = Generator(schema: schema)
        var operations: [ExpensiveOperation] = []
        for field in schema.queryType.fieldsType?.fields ?? [] {
            if field.namedType == "User" {
                for child in schema.type(named: "User")?.fieldsType?.fields ?? []
                where schema.type(named: child.namedType)?.isComposite == true {
                    operations += generator.operations("query", child, of: field.name)
                }
            } else {
                operations += generator.operations("query", field)
            }
        }
        for field in schema.mutationType?.fieldsType?.fields ?? []
        where !fieldsOfFiles.contains(field.name) && field.deprecationReason == nil {
            operations += generator.operations("mutation", field)
        }
        return operations
    }

    private struct Generator {
        let schema: Schema

        func operations(
            _ kind: String, _ field: FieldDefinition, of parent: String? = nil
        ) -> [ExpensiveOperation] {
            let hops = kind == "query" ? 2 : 0
            let isPage = field.argument(named: "first") != nil
            let selections = ExpensiveSelections(schema: schema).selections(
                of: field.type, hops: isPage ? hops - 1 : hops)
            return selections.compactMap { selection in
                largest(upTo: 100) { size in operation(kind, field, parent, selection, size, 1) }
                    .flatMap { size, smallest in
                        largest(upTo: ExpensiveOperation.copiesMax(field)) { copies in
                            operation(kind, field, parent, selection, size, copies)
                        }?.operation ?? smallest
                    }
            }
        }

        /// Returns the operation with the largest number that the limits allow; nil if none is allowed.
        private func largest(
            upTo max: Int, _ make: (Int) -> ExpensiveOperation
        ) -> (number: Int, operation: ExpensiveOperation)? {
            var (low, high) = (0, max + 1)
            var found: ExpensiveOperation?
            var next = max
            while high - low > 1 {
                let operation = make(next)
                if isAllowed(operation) {
                    low = next
                    found = operation
                } else {
                    high = next
                }
                next = (low + high) / 2
            }
            return found.map { (low, $0) }
        }

        private func isAllowed(_ operation: ExpensiveOperation) -> Bool {
            guard let document = try? parse(Source(operation.text)) else { return false }
            return checkLimits(document, against: schema, limits: Self.limitsOfServer).isEmpty
        }

        private static let limitsOfServer = {
            var limits = RequestLimits.bookplate.operation
            limits.depthMax = 15
            return limits
        }()

        private func operation(
            _ kind: String, _ field: FieldDefinition, _ parent: String?, _ selection: String,
            _ size: Int, _ copies: Int
        ) -> ExpensiveOperation {
            let inputs = ExpensiveInputs(schema: schema)
            let arguments = field.arguments.filter {
                inputs.includes($0, isMutation: kind == "mutation")
            }
            var variables: [Variable] = []
            let fields = (0..<copies).map { copy in
                let texts = arguments.map { argument -> String in
                    if argument.name == "first" {
                        return "first: \(min(size, inputs.numberMax(of: argument) ?? size))"
                    }
                    variables.append(
                        Variable(name: "v\(copy)_\(argument.name)", argument: argument, copy: copy))
                    return "\(argument.name): $v\(copy)_\(argument.name)"
                }
                let list = texts.isEmpty ? "" : "(\(texts.joined(separator: ", ")))"
                return "a\(copy): \(field.name)\(list)"
                    + ExpensiveSelections.replaceSizes(in: selection, with: size)
            }.joined(separator: " ")
            let definitions = variables.map { "$\($0.name): \(GraphQL.print($0.argument.type))" }
            let list = definitions.isEmpty ? "" : "(\(definitions.joined(separator: ", ")))"
            let body = parent.map { "\($0) { \(fields) }" } ?? fields
            return ExpensiveOperation(
                field: [parent, field.name].compactMap { $0 }.joined(separator: "."),
                text: "\(kind) Expensive\(list) { \(body) }", variables: variables, inputs: inputs)
        }
    }
}

/// Generates selections of all fields, with pages inside of pages.
private struct ExpensiveSelections {
    let schema: Schema

    /// Replaces the sizes of pages, which are written as `«100»` with their maximum.
    static func replaceSizes(in text: String, with size: Int) -> String {
        text.replacing(/«(\d+)»/) { "\(min(size, Int($0.1) ?? size))" }
    }

    /// Returns selections of a type, each with another page of the objects; one that is empty for a leaf type.
    ///
    /// - Parameter hops: how many pages may be inside of each other.
    func selections(of type: TypeReference, hops: Int) -> [String] {
        guard let definition = schema.type(named: type.namedType), definition.isComposite else {
            return [""]
        }
        let fields = definition.fieldsType?.fields ?? []
        if let nodes = fields.first(where: { $0.name == "nodes" }) {
            return selections(of: nodes.type, hops: hops).map {
                " { \(leaves(of: definition)) nodes\($0) }"
            }
        }
        let all = " { \(leaves(of: definition)) \(objects(of: definition)) }"
        guard hops > 0 else { return [all] }
        var pages = fields.filter(isPage).map { page($0, hops) }
        // Pages of single objects, such as `work { editions }`.
        for field in fields where isObject(field) {
            let children = schema.type(named: field.namedType)?.fieldsType?.fields ?? []
            pages += children.filter(isPage).map { child in
                page(child, hops).map { "\(field.name) { \($0) }" }
            }
        }
        let selections = pages.flatMap { $0 }.map { " { \(leaves(of: definition)) \($0) }" }
        return selections.isEmpty ? [all] : selections
    }

    private func page(_ field: FieldDefinition, _ hops: Int) -> [String] {
        let inputs = ExpensiveInputs(schema: schema)
        let arguments = field.arguments.filter { inputs.includes($0, isMutation: false) }
        let texts = arguments.map { argument -> String in
            if argument.name == "first" {
                return "first: «\(inputs.numberMax(of: argument) ?? 100)»"
            }
            if case .enumeration(let values) = schema.type(named: argument.type.namedType)?.kind {
                return "\(argument.name): \(values.last?.name ?? "")"
            }
            return "\(argument.name): \"\(String(repeating: "a", count: 100))\""
        }
        return selections(of: field.type, hops: hops - 1).map {
            "\(field.name)(\(texts.joined(separator: ", ")))\($0)"
        }
    }

    private func isPage(_ field: FieldDefinition) -> Bool {
        field.argument(named: "first") != nil && !hasOtherRequiredArguments(field)
    }

    private func isObject(_ field: FieldDefinition) -> Bool {
        guard case .list = field.type.nullable else {
            return schema.type(named: field.namedType)?.isComposite == true
                && field.arguments.isEmpty
        }
        return false
    }

    private func hasOtherRequiredArguments(_ field: FieldDefinition) -> Bool {
        field.arguments.contains(where: \.isRequired)
    }

    private func leaves(of type: TypeDefinition) -> String {
        (["__typename"]
            + (type.fieldsType?.fields ?? []).filter {
                schema.type(named: $0.namedType)?.isLeaf == true && !hasOtherRequiredArguments($0)
            }.map(\.name)).joined(separator: " ")
    }

    /// The objects and lists of a type that are not pages, with their leaves.
    private func objects(of type: TypeDefinition) -> String {
        (type.fieldsType?.fields ?? []).compactMap { field in
            guard let child = schema.type(named: field.namedType), child.isComposite,
                !isPage(field), !hasOtherRequiredArguments(field)
            else { return nil }
            return "\(field.name) { \(leaves(of: child)) }"
        }.joined(separator: " ")
    }
}

/// Generates the most expensive values of arguments that the server accepts.
private struct ExpensiveInputs: Sendable {
    let schema: Schema
    /// The maximum number of items of a list.
    var itemsMax = 100

    /// The objects that values name, one after the other.
    struct Objects {
        let account: NeighbourAccount
        var random: SeededGenerator
        private var next: Int

        init(_ account: NeighbourAccount, _ number: Int) {
            self.account = account
            random = SeededGenerator(UInt64(number))
            next = number
        }

        mutating func id(of type: String) -> Value {
            let ids = account.ids[type] ?? []
            next += 1
            return .string(ids.isEmpty ? account.user : ids[next % ids.count])
        }

        mutating func text(_ count: Int, isOneWord: Bool) -> String {
            RandomText.text(count, isOneWord: isOneWord, &random)
        }
    }

    /// Optional inputs that make a request cheap or invalid: filters, alternatives to other inputs, and references to objects
    /// that do not exist.
    private static let omitted: Set = [
        "after", "status", "shelfId", "color", "year", "genres", "actions", "linked", "outcome",
        "page", "seconds",
        "rating", "bookstoreId", "documents", "expiresAt", "cardId", "currentPage",
    ]

    /// The maximum number of letters of a text, and of all texts of one list. The bodies of most operations are then accepted.
    private static let lettersMax = 6_000

    func includes(_ input: InputValueDefinition, isMutation: Bool) -> Bool {
        if input.isRequired { return true }
        if input.deprecationReason != nil || input.type.namedType == "Upload"
            || input.description?.contains("of your choice") == true
            || Self.omitted.contains(input.name) && !(isMutation && input.name == "status")
        {
            return false
        }
        return true
    }

    /// Returns the number in "at most 100" and "1 to 100".
    func numberMax(of input: InputValueDefinition) -> Int? {
        guard let text = input.description?.lowercased() else { return nil }
        if text.contains("at most one") { return 1 }
        for words in ["at most ", "1 to "] {
            guard let start = text.firstRange(of: words)?.upperBound else { continue }
            let digits = text[start...].prefix { $0.isNumber || $0 == "," }.filter(\.isNumber)
            if let number = Int(digits) { return number }
        }
        return nil
    }

    func value(of input: InputValueDefinition, copy: Int, _ objects: inout Objects) -> Value {
        value(input, input.type.nullable, copy: copy, items: 1, &objects)
    }

    /// - Parameter items: the number of items of the lists that contain the value.
    private func value(
        _ input: InputValueDefinition, _ type: TypeReference, copy: Int, items: Int,
        _ objects: inout Objects
    ) -> Value {
        if let item = type.listItem {
            // Lists in lists are short, so that one request has as many entries as possible.
            let count = items > 1 ? 2 : min(numberMax(of: input) ?? 10, itemsMax)
            return .list(
                (0..<count).map {
                    value(input, item.nullable, copy: copy + $0, items: items * count, &objects)
                })
        }
        switch schema.type(named: type.namedType)?.kind {
        case .enumeration(let values):
            return .string(values[copy % values.count].name)
        case .inputObject(let object):
            var fields = object.fields.filter { includes($0, isMutation: true) }
            if object.isOneOf, !fields.isEmpty { fields = [fields[copy % fields.count]] }
            return .object(
                fields.map {
                    .init(
                        $0.name,
                        value($0, $0.type.nullable, copy: copy, items: items, &objects))
                })
        default: return scalar(input, type.namedType, copy: copy, items: items, &objects)
        }
    }

    private func scalar(
        _ input: InputValueDefinition, _ type: String, copy: Int, items: Int,
        _ objects: inout Objects
    ) -> Value {
        switch type {
        case "ID": return objects.id(of: typeOfID(input))
        case "Int":
            return .int(["year": 2026, "pageCount": 300, "lengthSeconds": 36_000][input.name] ?? 1)
        case "Float": return .float(input.name == "percent" ? Double(copy % 100) : 4)
        case "Boolean": return .boolean(input.name != "everywhere")
        case "PartialDate": return "2026-01-31"
        case "DateTime": return "2026-01-31T12:00:00Z"
        case "URI": return "http://127.0.0.1:9/cover.jpg"
        default: break
        }
        let known: [String: Value] = [
            "timeZone": "America/Argentina/Buenos_Aires", "publishedDate": "1999-01-31",
            "language": "en", "app": "com.example.reader", "position": "1.5",
            "isbn": .string(
                TestCatalog.isbn(Int.random(in: 0..<100_000_000, using: &objects.random))),
            "confirm": .string(objects.account.user), "preferredGenres": "Fantasy",
            "languages": "es", "provider": "google",
        ]
        if let value = known[input.name] { return value }
        let count = min(numberMax(of: input) ?? 100, max(20, Self.lettersMax / items))
        // One long word, or many short ones.
        return .string(objects.text(count, isOneWord: copy.isMultiple(of: 2)))
    }

    /// Returns the type of the object that an id is about, from the name of the input or its description: "The id of the read."
    private func typeOfID(_ input: InputValueDefinition) -> String {
        let types = [
            ("shel", "Shelf"), ("read", "Read"), ("note", "Note"), ("entry", "ProgressEntry"),
            ("card", "FeedCard"),
        ]
        let description = input.description?.lowercased() ?? ""
        if ["to", "from", "moveTo"].contains(input.name) { return "Shelf" }
        let isNamed = { (word: String) in
            input.name.lowercased().hasPrefix(word)
                || description.hasPrefix("the id of the \(word)")
                || description.hasPrefix("the id of a \(word)") || description.contains(" \(word)")
        }
        if input.name == "bookId" || description.contains("the book") { return "Book" }
        return types.first { isNamed($0.0) }?.1 ?? "Book"
    }
}

/// Random letters, cut from a text that is generated once, because the client shares the processors with the server.
enum RandomText {
    private static let letters = {
        var random = SeededGenerator(1)
        return (0..<1 << 18).map { _ in UInt8.random(in: 97...122, using: &random) }
    }()
    private static let words = letters.enumerated().map { $0 % 6 == 5 ? UInt8(ascii: " ") : $1 }

    /// Returns up to 200,000 letters: one word, or words of five letters.
    static func text(
        _ count: Int, isOneWord: Bool = true, _ random: inout some RandomNumberGenerator
    ) -> String {
        let source = isOneWord ? letters : words
        let start = Int.random(in: 0..<source.count - min(count, 200_000), using: &random)
        return String(decoding: source[start..<start + min(count, 200_000)], as: UTF8.self)
    }
}
