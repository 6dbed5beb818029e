extension Configuration.Sources {
    /// The sources that a server uses.
    package var enabledSources: [Configuration.SourceBudgets.Source] {
        Configuration.SourceBudgets.Source.allCases.filter { source in
            switch source {
            case .openLibrary: openLibraryURL != nil
            case .openLibraryCovers: openLibraryCoversURL != nil
            case .googleBooks: googleBooksURL != nil
            case .isbnDB: isbnDBURL != nil && isbnDBKey != nil
            case .webSearch: openAIURL != nil && openAIKey != nil
            }
        }
    }
}
