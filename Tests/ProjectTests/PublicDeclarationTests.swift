import Testing

/// The declarations that programs outside of this package can use.
@Suite struct PublicDeclarationTests {
    /// The libraries among the products of Package.swift.
    static let libraries = ["BookplateClient", "GraphQL", "GraphQLNIO", "GraphQLServing"]

    @Test func librariesAreTheProducts() throws {
        let manifest = try Project.text("Package.swift")
        let products = manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) }
        #expect(products.sorted() == Self.libraries)
    }

    @Test(arguments: libraries) func publicDeclarationsAreDocumented(_ library: String) throws {
        var count = 0
        for path in try Project.files([try ConventionTests.folder(of: library)], [".swift"]) {
            let lines = try Project.text(path).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where Self.isPublicDeclaration(line) {
                count += 1
                // Attributes may be on lines of their own.
                let before = lines[..<index].last {
                    $0.wholeMatch(of: /\s*@\w+(\([^)]*\))?/) == nil
                }
                #expect(
                    before?.drop { $0 == " " }.hasPrefix("///") == true,
                    "\(path):\(index + 1): \(line) has no doc comment")
            }
        }
        #expect(count > 0)
    }

    /// Declarations in an extension without an access level of its own. An extension is not a declaration of its own.
    private static func isPublicDeclaration(_ line: Substring) -> Bool {
        line.prefixMatch(of: /\s*(@\w+(\([^)]*\))? )*(public|open) (?!import|extension)/) != nil
    }

    /// Modules that are not products have no public declarations: `package` is enough for the targets of this package.
    @Test(arguments: ConventionTests.modules.filter { !libraries.contains($0) })
    func otherModulesHaveNoPublicDeclarations(_ module: String) throws {
        for path in try Project.files([try ConventionTests.folder(of: module)], [".swift"]) {
            for line in try Project.text(path).split(separator: "\n")
            where Self.isPublicDeclaration(line) {
                Issue.record("\(path): \(line)")
            }
        }
    }
}
