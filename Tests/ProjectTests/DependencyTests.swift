import Testing

/// Package.swift is the only place that says which module may import which. The compiler alone does not enforce it: a
/// module can also import the dependencies of its dependencies.
@Suite struct DependencyTests {
    struct Target: CustomTestStringConvertible, Sendable {
        let name: String
        /// The index of the target's floor. Modules import only modules of floors with the same index or a lower one.
        let floor: Int
        let isTest: Bool
        let path: String
        let dependencies: Set<String>
        var testDescription: String { name }
    }

    /// The targets of the floors in Package.swift. Their declarations are indented by eight spaces, as swift-format does.
    static let targets: [Target] = {
        guard let manifest = try? Project.text("Package.swift") else { return [] }
        let floors = manifest.split(separator: "\nfloor(\n", omittingEmptySubsequences: false)
            .dropFirst()
        return floors.enumerated().flatMap { index, text in
            let folder = text.firstMatch(of: /"(\w+)"/)?.1 ?? ""
            let isForTests = text.contains(/^ +"\w+", in: "Tests"/)
            return declarations(text).compactMap { target($0, index, folder, isForTests) }
        }
    }()

    private static func declarations(_ text: Substring) -> [String] {
        var declarations: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.wholeMatch(of: #/ {8}\.(target|executableTarget|testTarget|systemLibrary)\(.*/#)
                != nil
            {
                declarations.append("")
            }
            if line == "    ])" { break }
            guard !declarations.isEmpty else { continue }
            declarations[declarations.count - 1] += line + "\n"
        }
        return declarations
    }

    private static func target(
        _ declaration: String, _ floor: Int, _ folder: Substring, _ isForTests: Bool
    ) -> Target? {
        guard let name = declaration.firstMatch(of: /name: "(\w+)"/)?.1 else { return nil }
        let isTest = declaration.contains(".testTarget(")
        let path = declaration.firstMatch(of: /path: "([^"]+)"/)?.1
        let list =
            declaration.firstMatch(of: /dependencies: \[((?:[^\[\]]|\[[^\]]*\])*)\]/)?.1 ?? ""
        let products = list.matches(of: /\.product\(\s*name: "(\w+)"/).map { String($0.1) }
        let modules = list.replacing(/\.product\([^)]*\)/, with: "")
            .matches(of: /"(\w+)"/).map { String($0.1) }
        let root = isTest || isForTests ? "Tests" : "Sources"
        return Target(
            name: String(name), floor: floor, isTest: isTest || isForTests,
            path: path.map(String.init) ?? "\(root)/\(folder)/\(name)",
            dependencies: Set(products + modules))
    }

    private static func imports(_ path: String) throws -> Set<String> {
        var imports: Set<String> = []
        for file in try Project.files([path], [".swift"]) {
            for match in try Project.text(file).matches(
                of:
                    /(?m)^\s*(?:@\w+(?:\(\w+\))? )*(?:public |package )?import (?:struct |enum |func )?(\w+)/
            ) {
                imports.insert(String(match.1))
            }
        }
        return imports
    }

    @Test func packageSwiftIsRead() {
        #expect(Self.targets.count > 40)
        #expect(
            Self.targets.first { $0.name == "Postgres" }?.dependencies.contains("CLibPQ") == true)
    }

    /// A module of a floor knows nothing of the floors below it in Package.swift.
    @Test(arguments: targets.filter { !$0.isTest })
    func modulesImportNoFloorBelow(_ target: Target) {
        let below = Self.targets.filter {
            $0.floor > target.floor && target.dependencies.contains($0.name)
        }
        #expect(below.map(\.name) == [])
    }

    /// Every dependency of this package, whether a module of its own or another package's product.
    private static let all = Set(targets.map(\.name)).union(targets.flatMap(\.dependencies))

    @Test(arguments: targets)
    func importsAreTheDeclaredDependencies(_ target: Target) throws {
        let imports = try Self.imports(target.path)
        guard !imports.isEmpty else { return }
        let imported = imports.intersection(Self.all)
        #expect(imported.subtracting(target.dependencies) == [], "declare them in Package.swift")
        #expect(target.dependencies.subtracting(imports) == [], "remove them from Package.swift")
    }

    /// The engine can be used without this server, and depends on nothing but the standard library.
    @Test func graphQLHasNoDependencies() throws {
        #expect(try Self.imports("Sources/Engine/GraphQL").subtracting(["Synchronization"]) == [])
    }

    /// The client runs on iOS, so it imports nothing that only Linux has.
    @Test func clientImportsOnlyWhatItsPlatformsHave() throws {
        let imports = try Self.imports("Sources/Client/BookplateClient")
        #expect(
            imports == ["Foundation", "FoundationNetworking", "GRDB", "Observation", "Security"])
        for file in try Project.files(["Sources/Client/BookplateClient"], [".swift"]) {
            let text = try Project.text(file)
            for module in ["FoundationNetworking", "Observation", "Security"]
            where text.contains("import \(module)\n") {
                #expect(text.contains("#if canImport(\(module))"), "\(file)")
            }
        }
    }

    /// The products for other programs reach only these modules and packages.
    @Test(
        arguments: [
            ("BookplateClient", ["GRDB"]), ("GraphQL", []),
            ("GraphQLServing", ["Basics", "GraphQL"]),
            (
                "GraphQLNIO",
                [
                    "Basics", "CZlib", "EventLoops", "GraphQL", "GraphQLServing", "Gzip", "Logging",
                    "NIOCore", "NIOHTTP1", "NIOPosix", "NIOWebSocket", "ServiceLifecycle",
                    "Telemetry",
                ]
            ),
        ] as [(String, Set<String>)])
    func productsForOtherProgramsAreSmall(_ product: String, _ dependencies: Set<String>) {
        #expect(Self.reached(from: product).subtracting([product]) == dependencies)
    }

    private static func reached(from module: String) -> Set<String> {
        var reached: Set<String> = []
        var open = [module]
        while let next = open.popLast() {
            guard reached.insert(next).inserted else { continue }
            open += targets.first { $0.name == next }?.dependencies ?? []
        }
        return reached
    }

    /// The HTTP side does not depend on the product, and the product does not depend on the HTTP side.
    @Test(arguments: [("Server", "Bookplate"), ("Bookplate", "Server"), ("Bookplate", "Config")])
    func modulesStayApart(_ module: String, _ other: String) {
        #expect(!Self.reached(from: module).contains(other))
    }
}
