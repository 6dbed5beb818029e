import GraphQL

extension ValidationOptions {
    /// The options of a server with `BOOKPLATE_INTROSPECTION` on or off.
    ///
    /// With introspection off, messages do not suggest names of the schema either.
    package init(allowsIntrospection: Bool) {
        self.init(
            hasSuggestions: allowsIntrospection,
            introspectionDisabledReason: allowsIntrospection
                ? nil : "The operator of this server can enable it with BOOKPLATE_INTROSPECTION=on."
        )
    }
}
