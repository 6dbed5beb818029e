/// A node with a name, which can be compared with others of its tree by number.
protocol NamedNode: SyntaxNode {
    var reference: NodeReference { get }
}

extension NamedNode {
    var nameID: NameID { reference.nameID }
    /// Its name, without where it stands.
    var nameText: String { reference.nameText }
}

extension VariableDefinition: NamedNode {}
extension Field: NamedNode {}
extension Argument: NamedNode {}
extension Directive: NamedNode {}
extension FragmentSpread: NamedNode {}
extension FragmentDefinition: NamedNode {}
extension ObjectField: NamedNode {}
extension InputValueDefinitionNode: NamedNode {}
