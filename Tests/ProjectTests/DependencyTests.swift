import Testing

/// Package.swift is the only place that says which module may import which. The compiler alone does not enforce it: a
/// module can also import the dependencies of its dependencies.
@Suite struct DependencyTests {
    struct Target: CustomTestStringConvertible, Sendable {
        let name: String
        let path: String
        let dependencies: Set<String>
        var testDescription: String { name }
    }

    /// The targets of Package.swift. Their declarations are indented by eight spaces, as swift-format does.
    static let targets: [Target] = {
        guard let manifest = try? Project.text("Package.swift"),
            let start = manifest.firstRange(of: "targets: [\n        .target(")
        else { return [] }
        var declarations: [String] = []
        for line in manifest[start.upperBound...].split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.wholeMatch(of: #/ {8}\.(target|executableTarget|testTarget|systemLibrary)\(.*/#)
                != nil || declarations.isEmpty
            {
                declarations.append("")
            }
            declarations[declarations.count - 1] += line + "\n"
            if line == "    ]," { break }
        }
        return declarations.compactMap { declaration in
            guard let name = declaration.firstMatch(of: /name: "(\w+)"/)?.1 else { return nil }
            let isTest = declaration.contains(".testTarget(")
            let path = declaration.firstMatch(of: /path: "([^"]+)"/)?.1
            let list =
                declaration.firstMatch(of: /dependencies: \[((?:[^\[\]]|\[[^\]]*\])*)\]/)?.1 ?? ""
            let products = list.matches(of: /\.product\(\s*name: "(\w+)"/).map { String($0.1) }
            let modules = list.replacing(/\.product\([^)]*\)/, with: "")
                .matches(of: /"(\w+)"/).map { String($0.1) }
            return Target(
                name: String(name),
                path: path.map(String.init) ?? (isTest ? "Tests/" : "Sources/") + name,
                dependencies: Set(products + modules))
        }
    }()

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
        #expect(try Self.imports("Sources/GraphQL").subtracting(["Synchronization"]) == [])
    }

    /// The products for other programs reach only these modules and packages.
    @Test(
        arguments: [
            ("GraphQL", []), ("GraphQLServing", ["Basics", "GraphQL"]),
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
