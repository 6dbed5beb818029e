import GraphQL
func print(_ document: Document) -> String { "" }
