/// Returns the changes from one version of a schema to the next, in the order of the older schema,
/// followed by additions.
///
/// Descriptions and the order of definitions are not compared.
package func compareSchemas(_ old: Schema, _ new: Schema) -> [SchemaChange] {
    var changes = SchemaChanges()
    changes.compareRoots(old, new)
    let types = difference(old.types, new.types, by: \.name)
    for type in types.removed {
        changes.add(.breaking, .type(type.name), "Type \(type.name) was removed.")
    }
    for (oldType, newType) in types.kept { changes.compare(oldType, newType) }
    for type in types.added {
        changes.add(.safe, .type(type.name), "Type \(type.name) was added.")
    }
    changes.compareDirectives(old, new)
    return changes.found
}

/// Collects the changes of one comparison.
struct SchemaChanges {
    private(set) var found: [SchemaChange] = []

    mutating func add(
        _ severity: SchemaChange.Severity, _ coordinate: SchemaCoordinate, _ message: String
    ) {
        found.append(SchemaChange(severity: severity, coordinate: coordinate, message: message))
    }

    mutating func compareRoots(_ old: Schema, _ new: Schema) {
        for kind in OperationKind.allCases {
            let (oldRoot, newRoot) = (old.rootType(of: kind), new.rootType(of: kind))
            guard oldRoot?.name != newRoot?.name else { continue }
            switch (oldRoot, newRoot) {
            case (let oldRoot?, let newRoot?):
                add(
                    .breaking, .type(newRoot.name),
                    "The \(kind) root type changed from \(oldRoot.name) to \(newRoot.name).")
            case (let oldRoot?, nil):
                add(.breaking, .type(oldRoot.name), "The \(kind) root type was removed.")
            case (nil, let newRoot?):
                add(.safe, .type(newRoot.name), "The \(kind) root type was added.")
            case (nil, nil):
                break
            }
        }
    }

    mutating func compare(_ old: TypeDefinition, _ new: TypeDefinition) {
        switch (old.kind, new.kind) {
        case (.object(let oldBody), .object(let newBody)),
            (.interface(let oldBody), .interface(let newBody)):
            compareFields(oldBody, newBody, of: new.name)
            compareInterfaces(oldBody, newBody, of: new.name)
        case (.union(let oldMembers), .union(let newMembers)):
            compareMembers(oldMembers, newMembers, of: new.name)
        case (.enumeration(let oldValues), .enumeration(let newValues)):
            compareValues(oldValues, newValues, of: new.name)
        case (.inputObject(let oldBody), .inputObject(let newBody)):
            compareInputFields(oldBody, newBody, of: new.name)
        case (.scalar, .scalar):
            break
        default:
            add(
                .breaking, .type(new.name),
                "Type \(new.name) changed from \(old.kind.noun) to \(new.kind.noun).")
        }
    }

    // MARK: - Output types

    private mutating func compareFields(_ old: FieldsType, _ new: FieldsType, of type: String) {
        let fields = difference(old.fields, new.fields, by: \.name)
        for field in fields.removed {
            let coordinate = SchemaCoordinate.member(type: type, field.name)
            add(.breaking, coordinate, "Field \(coordinate) was removed.")
        }
        for (oldField, newField) in fields.kept {
            let coordinate = SchemaCoordinate.member(type: type, newField.name)
            compareInputValues(oldField.arguments, newField.arguments, "argument") {
                .argument(type: type, field: newField.name, $0)
            }
            if !oldField.type.isSame(as: newField.type) {
                add(
                    isNarrowed(newField.type, from: oldField.type) ? .safe : .breaking, coordinate,
                    "Field \(coordinate) changed type from \(print(oldField.type)) to "
                        + "\(print(newField.type)).")
            }
            compareDeprecations(
                oldField.deprecationReason, newField.deprecationReason, at: coordinate)
        }
        for field in fields.added {
            let coordinate = SchemaCoordinate.member(type: type, field.name)
            add(.safe, coordinate, "Field \(coordinate) was added.")
        }
    }

    private mutating func compareInterfaces(_ old: FieldsType, _ new: FieldsType, of type: String) {
        let interfaces = difference(old.interfaces, new.interfaces, by: \.self)
        for interface in interfaces.removed {
            add(.breaking, .type(type), "\(type) no longer implements interface \(interface).")
        }
        for interface in interfaces.added {
            add(.dangerous, .type(type), "\(type) now implements interface \(interface).")
        }
    }

    private mutating func compareMembers(_ old: [String], _ new: [String], of type: String) {
        let members = difference(old, new, by: \.self)
        for member in members.removed {
            add(.breaking, .type(type), "\(member) was removed from union type \(type).")
        }
        for member in members.added {
            add(.dangerous, .type(type), "\(member) was added to union type \(type).")
        }
    }

    private mutating func compareValues(
        _ old: [EnumValueDefinition], _ new: [EnumValueDefinition], of type: String
    ) {
        let values = difference(old, new, by: \.name)
        for value in values.removed {
            let coordinate = SchemaCoordinate.member(type: type, value.name)
            add(.breaking, coordinate, "Enum value \(coordinate) was removed.")
        }
        for (oldValue, newValue) in values.kept {
            compareDeprecations(
                oldValue.deprecationReason, newValue.deprecationReason,
                at: .member(type: type, newValue.name))
        }
        for value in values.added {
            let coordinate = SchemaCoordinate.member(type: type, value.name)
            add(.dangerous, coordinate, "Enum value \(coordinate) was added.")
        }
    }

    // MARK: - Input

    private mutating func compareInputFields(
        _ old: InputObjectType, _ new: InputObjectType, of type: String
    ) {
        if old.isOneOf != new.isOneOf {
            add(
                new.isOneOf ? .breaking : .safe, .type(type),
                "Input type \(type) \(new.isOneOf ? "became" : "is no longer") a OneOf.")
        }
        compareInputValues(old.fields, new.fields, "input field") { .member(type: type, $0) }
    }

    private mutating func compareInputValues(
        _ old: [InputValueDefinition], _ new: [InputValueDefinition], _ noun: String,
        at coordinate: (String) -> SchemaCoordinate
    ) {
        let values = difference(old, new, by: \.name)
        for value in values.removed {
            add(
                .breaking, coordinate(value.name),
                "The \(noun) \(coordinate(value.name)) was removed.")
        }
        for (oldValue, newValue) in values.kept {
            compare(oldValue, newValue, noun, at: coordinate(newValue.name))
        }
        for value in values.added {
            add(
                value.isRequired ? .breaking : .dangerous, coordinate(value.name),
                "\(value.isRequired ? "A required" : "An optional") \(noun) \(coordinate(value.name)) was "
                    + "added.")
        }
    }

    private mutating func compare(
        _ old: InputValueDefinition, _ new: InputValueDefinition, _ noun: String,
        at coordinate: SchemaCoordinate
    ) {
        if !old.type.isSame(as: new.type) {
            add(
                isWidened(new.type, from: old.type) ? .safe : .breaking, coordinate,
                "The \(noun) \(coordinate) changed type from \(print(old.type)) to \(print(new.type))."
            )
        }
        switch (old.defaultValue.map { print($0) }, new.defaultValue.map { print($0) }) {
        case (let oldText?, let newText?) where oldText != newText:
            add(
                .dangerous, coordinate,
                "The default value of \(coordinate) changed from \(oldText) to \(newText).")
        case (_?, nil):
            add(
                new.isRequired ? .breaking : .dangerous, coordinate,
                "The default value of \(coordinate) was removed.")
        case (nil, let newText?):
            add(
                old.isRequired ? .safe : .dangerous, coordinate,
                "The default value \(newText) of \(coordinate) was added.")
        case (nil, nil), (_?, _?):
            break
        }
        compareDeprecations(old.deprecationReason, new.deprecationReason, at: coordinate)
    }

    private mutating func compareDeprecations(
        _ old: String?, _ new: String?, at coordinate: SchemaCoordinate
    ) {
        guard (old == nil) != (new == nil) else { return }
        add(.safe, coordinate, "\(coordinate) is \(new == nil ? "no longer" : "now") deprecated.")
    }

    // MARK: - Directives

    mutating func compareDirectives(_ old: Schema, _ new: Schema) {
        let directives = difference(old.directives, new.directives, by: \.name)
        for directive in directives.removed {
            add(
                .breaking, .directive(directive.name), "Directive @\(directive.name) was removed.")
        }
        for (oldDirective, newDirective) in directives.kept {
            let coordinate = SchemaCoordinate.directive(newDirective.name)
            compareInputValues(oldDirective.arguments, newDirective.arguments, "argument") {
                .directiveArgument(directive: newDirective.name, $0)
            }
            if oldDirective.isRepeatable != newDirective.isRepeatable {
                add(
                    newDirective.isRepeatable ? .safe : .breaking, coordinate,
                    "\(coordinate) is \(newDirective.isRepeatable ? "now" : "no longer") repeatable."
                )
            }
            let locations = difference(oldDirective.locations, newDirective.locations, by: \.self)
            for location in locations.removed {
                add(
                    .breaking, coordinate,
                    "\(coordinate) may no longer be used on \(location.rawValue).")
            }
            for location in locations.added {
                add(.safe, coordinate, "\(coordinate) may now be used on \(location.rawValue).")
            }
        }
        for directive in directives.added {
            add(.safe, .directive(directive.name), "Directive @\(directive.name) was added.")
        }
    }
}

// MARK: - Comparing

/// Returns the elements that are only in `old`, in both, and only in `new`.
private func difference<Element>(
    _ old: [Element], _ new: [Element], by key: (Element) -> some Hashable
) -> (removed: [Element], kept: [(Element, Element)], added: [Element]) {
    let newByKey = Dictionary(new.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
    let oldKeys = Set(old.map(key))
    return (
        old.filter { newByKey[key($0)] == nil },
        old.compactMap { element in newByKey[key(element)].map { (element, $0) } },
        new.filter { !oldKeys.contains(key($0)) }
    )
}

/// Whether the type of a field can change from `old` to `new` without breaking clients: it may
/// become non-nullable, but must not change otherwise.
private func isNarrowed(_ new: TypeReference, from old: TypeReference) -> Bool {
    switch (new, old) {
    case (.nonNull(let new, _), .nonNull(let old, _)), (.list(let new, _), .list(let old, _)):
        isNarrowed(new, from: old)
    case (.nonNull(let new, _), _): isNarrowed(new, from: old)
    case (.named(let new), .named(let old)): new.value == old.value
    default: false
    }
}

/// Whether the type of an input can change from `old` to `new` without breaking clients: it may
/// become nullable, but must not change otherwise.
private func isWidened(_ new: TypeReference, from old: TypeReference) -> Bool {
    isNarrowed(old, from: new)
}

extension TypeDefinition.Kind {
    fileprivate var noun: String {
        switch self {
        case .scalar: "a scalar type"
        case .object: "an object type"
        case .interface: "an interface type"
        case .union: "a union type"
        case .enumeration: "an enum type"
        case .inputObject: "an input type"
        }
    }
}
