/// A node with a name. Names of one tree can be compared by ID.
protocol NamedNode: SyntaxNode {
    var reference: NodeReference { get }
}

extension NamedNode {
    var nameID: NameID { reference.nameID }
    /// The text of the name, without its range.
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
