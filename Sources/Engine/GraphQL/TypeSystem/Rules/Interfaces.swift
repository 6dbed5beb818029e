/// Checks that a type implements its interfaces correctly.
///
/// Spec: https://spec.graphql.org/September2025/#IsValidImplementation()
func checkInterfaces(of type: TypeParts, _ parts: SchemaParts, _ context: inout ValidationContext) {
    let name = type.name.value
    var implemented: Set<String> = []
    for interfaceName in type.interfaces {
        let ranges = type.ranges(implementing: interfaceName.value)
        guard case .interface? = context.schema.type(named: interfaceName.value)?.kind,
            let interface = parts[interfaceName.value]
        else {
            context.report(
                "Type \(name) must only implement Interface types, it cannot implement "
                    + "\(interfaceName.value).", at: ranges)
            continue
        }
        if interfaceName.value == name {
            context.report(
                "Type \(name) cannot implement itself because it would create a circular reference.",
                at: ranges)
            continue
        }
        guard implemented.insert(interfaceName.value).inserted else {
            context.report(
                "Type \(name) can only implement \(interfaceName.value) once.", at: ranges)
            continue
        }
        checkImplementsAncestors(type, interface, &context)
        for field in interface.fields { check(type, implements: field, of: interface, &context) }
    }
}

/// Checks that a type also implements the interfaces of its interfaces.
private func checkImplementsAncestors(
    _ type: TypeParts, _ interface: TypeParts, _ context: inout ValidationContext
) {
    let implemented = Set(type.interfaces.map(\.value))
    for ancestor in interface.interfaces where !implemented.contains(ancestor.value) {
        let (name, interfaceName) = (type.name.value, interface.name.value)
        context.report(
            ancestor == type.name
                ? "Type \(name) cannot implement \(interfaceName) because it would create a circular "
                    + "reference."
                : "Type \(name) must implement \(ancestor.value) because it is implemented by "
                    + "\(interfaceName).",
            at: interface.ranges(implementing: ancestor.value)
                + type.ranges(implementing: interfaceName))
    }
}

private func check(
    _ type: TypeParts, implements interfaceField: FieldDefinitionNode, of interface: TypeParts,
    _ context: inout ValidationContext
) {
    let interfacePath = "\(interface.name.value).\(interfaceField.name.value)"
    guard let field = type.field(named: interfaceField.name.value) else {
        context.report(
            "Interface field \(interfacePath) expected but \(type.name.value) does not provide it.",
            at: [interfaceField.range] + type.ranges)
        return
    }
    let path = "\(type.name.value).\(field.name.value)"
    if !context.schema.isSubtype(field.type, of: interfaceField.type) {
        context.report(
            "Interface field \(interfacePath) expects type \(print(interfaceField.type)) but \(path) is "
                + "type \(print(field.type)).", at: interfaceField.type.range, field.type.range)
    }
    for expected in interfaceField.arguments {
        let name = expected.name.value
        guard let argument = field.argument(named: name) else {
            context.report(
                "Interface field argument \(interfacePath)(\(name):) expected but \(path) does not "
                    + "provide it.", at: expected.range, field.range)
            continue
        }
        if !expected.type.isSame(as: argument.type) {
            context.report(
                "Interface field argument \(interfacePath)(\(name):) expects type "
                    + "\(print(expected.type)) but \(path)(\(name):) is type \(print(argument.type)).",
                at: expected.type.range, argument.type.range)
        }
    }
    for argument in field.arguments
    where argument.isRequired && interfaceField.argument(named: argument.name.value) == nil {
        context.report(
            "Object field \(path) includes required argument \(argument.name.value) that is missing "
                + "from the Interface field \(interfacePath).",
            at: argument.range, interfaceField.range)
    }
    if let deprecation = field.directives.deprecation, interfaceField.directives.deprecation == nil
    {
        context.report(
            "Interface field \(interfacePath) is not deprecated, so implementation field \(path) must "
                + "not be deprecated.", at: deprecation.range, field.type.range)
    }
}

extension TypeParts {
    fileprivate func ranges(implementing name: String) -> [SourceRange] {
        interfaces.filter { $0.value == name }.map(\.range)
    }
}
