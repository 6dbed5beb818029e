// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "bookplate",
    // The client is for apps. The server runs on Linux.
    platforms: [.iOS(.v17), .macOS(.v15)],
    products: [
        .library(name: "BookplateClient", targets: ["BookplateClient"]),
        .library(name: "GraphQL", targets: ["GraphQL"]),
        .library(name: "GraphQLServing", targets: ["GraphQLServing"]),
        .library(name: "GraphQLNIO", targets: ["GraphQLNIO"]),
        .executable(name: "bookplate", targets: ["BookplateServer"]),
        .executable(name: "bookplate-admin", targets: ["Admin"]),
        .executable(name: "bookplate-imager", targets: ["Imager"]),
        .executable(name: "graphql-tool", targets: ["GraphQLTool"]),
        .executable(name: "ranking-tool", targets: ["RankingTool"]),
        .plugin(name: "GraphQLTypes", targets: ["GraphQLTypes"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Only the client uses it.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        // Only tests use it.
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    swiftLanguageModes: [.v6]
)

/// Adds the modules of a floor. Each has a folder of its own: Sources/<floor>/<module>, Tests/<floor>/<module>.
@MainActor func floor(
    _ name: String, in folder: String = "Sources", _ modules: [Target], tests: [Target] = []
) {
    for module in modules { module.path = module.path ?? "\(folder)/\(name)/\(module.name)" }
    for test in tests { test.path = "Tests/\(name)/\(test.name)" }
    package.targets += modules + tests
}

// A module imports only modules of its own floor and of the floors above it in this file.

// MARK: System: module maps of C libraries, and C code. scripts/packages lists their Debian packages.

floor(
    "System",
    [
        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]),
        .target(name: "CReadiness"),
        // The editor of the explorer page, as bytes in the program.
        .target(name: "CExplorer", exclude: ["codemirror"]),
        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CCurl", dependencies: ["CLibCurl"]),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CMosquitto", pkgConfig: "libmosquitto",
            providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(
            name: "CJWT", pkgConfig: "libjwt",
            providers: [.apt(["libjwt-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibVips", pkgConfig: "vips",
            providers: [.apt(["libvips-dev"])]),
        .target(
            name: "CVips", dependencies: ["CLibVips"],
            // libvips draws texts with Pango, and its package contains Pango's headers.
            linkerSettings: [.linkedLibrary("pangocairo-1.0"), .linkedLibrary("pango-1.0")]),
        .target(name: "CSandbox"),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"])]),
        // malloc_trim and mallopt, which the Glibc module does not export.
        .systemLibrary(name: "CMalloc"),
    ])

// MARK: Libraries: know neither books nor GraphQL

floor(
    "Libraries",
    [
        .target(name: "Version"),
        // Helpers that several libraries share.
        .target(name: "Basics"),
        .target(name: "Telemetry"),
        .target(
            name: "EventLoops", dependencies: [.product(name: "NIOCore", package: "swift-nio")]),
        .target(
            name: "Postgres",
            dependencies: [
                "Basics",
                "CLibPQ", "CReadiness", "EventLoops",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .target(
            name: "HTTPFetch", dependencies: ["CCurl", "Telemetry"]),
        .target(name: "Gzip", dependencies: ["CZlib"]),
        .target(name: "MQTT", dependencies: ["CMosquitto"]),
        .target(
            name: "Identity",
            dependencies: ["Basics", "CJWT", "CCrypto", "HTTPFetch"]),
        // Background jobs in a table.
        .target(
            name: "JobQueue",
            dependencies: [
                "Basics", "Postgres", "Telemetry", .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "ObjectStorage"),
        .target(
            name: "S3Storage",
            dependencies: [
                "Basics", "Config", "HTTPFetch", "Identity", "ObjectStorage", "Telemetry",
            ]),
        .target(name: "ImageProcessing", dependencies: ["Basics"]),
        .target(name: "Zip", dependencies: ["CArchive"]),
        .target(
            name: "Config",
            dependencies: ["Basics", .product(name: "NIOCore", package: "swift-nio")]),
    ],
    tests: [
        .testTarget(
            name: "PostgresTests",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), "EventLoops", "Postgres",
                "TestBasics",
            ]),
        .testTarget(name: "ConfigTests", dependencies: ["Config"]),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry"]),
        .testTarget(
            name: "MQTTTests",
            dependencies: [
                "MQTT", "MosquittoBroker", .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "HTTPFetchTests", dependencies: ["HTTPFetch", "LoopbackHTTP", "Telemetry"]),
        .testTarget(
            name: "EventLoopsTests",
            dependencies: [
                "EventLoops", "TestBasics", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(name: "GzipTests", dependencies: ["Gzip"]),
        .testTarget(
            name: "JobQueueTests",
            dependencies: [
                "GraphQL",
                "Bookplate", "EventLoops", "JobQueue", "Postgres", "Requests", "TestBasics",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "ImageProcessingTests", dependencies: ["Basics", "ImageProcessing"],
            exclude: ["Fixtures"]),
        .testTarget(name: "ObjectStorageTests", dependencies: ["LinkRefusal", "ObjectStorage"]),
        .testTarget(name: "ZipTests", dependencies: ["Zip"]),
        .testTarget(
            name: "IdentityTests",
            dependencies: ["HTTPFetch", "Basics", "Identity", "CCrypto", "LoopbackHTTP"],
            exclude: ["Fixtures"]),
    ])

// MARK: Engine: GraphQL for any Swift program

floor(
    "Engine",
    [
        .target(
            name: "GraphQL",
            // Rounding is in libm, which modules that import the C library link by themselves.
            linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(name: "GraphQLTool", dependencies: ["Basics", "GraphQL", "Version"]),
        // The program of the plugin GraphQLTypes.
        .executableTarget(name: "GraphQLTypesTool", dependencies: ["GraphQLTypeGeneration"]),
        .target(name: "GraphQLTypeGeneration", dependencies: ["GraphQL"]),
        // The interface between transports and the product that executes GraphQL requests.
        .target(name: "GraphQLServing", dependencies: ["Basics", "GraphQL"]),
        // The page on which developers write queries.
        .target(
            name: "GraphQLExplorer",
            dependencies: [
                "CExplorer", "GraphQL", "GraphQLNIO",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            exclude: ["Page"], plugins: ["EmbedFiles"]),
        // Loads the fields of a GraphQL operation from the rows of tables.
        .target(
            name: "GraphQLPostgres", dependencies: ["Basics", "GraphQL", "Postgres"],
            exclude: ["README.md"]),
        // GraphQL over HTTP, event streams, and WebSockets.
        .target(
            name: "GraphQLNIO",
            dependencies: [
                "Basics", "EventLoops", "GraphQL", "GraphQLServing", "Gzip", "Telemetry",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // Also packages of their own, which depend on the products as an outside package does.
        .executableTarget(
            name: "GettingStarted", dependencies: ["GraphQL", "GraphQLNIO"],
            path: "Examples/GettingStarted/Sources"),
        .executableTarget(
            name: "Starwars", dependencies: ["GraphQL", "GraphQLNIO"],
            path: "Examples/Starwars/Sources", plugins: ["GraphQLTypes"]),
        .executableTarget(
            name: "Subscriptions", dependencies: ["GraphQL", "GraphQLNIO"],
            path: "Examples/Subscriptions/Sources", resources: [.embedInCode("schema.graphql")]),
    ],
    tests: [
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "GettingStarted", "GraphQL", "GraphQLServing", "Starwars", "Subscriptions",
            ]),
        .testTarget(name: "GraphQLTests", dependencies: ["GraphQL", "GraphQLServing"]),
        .testTarget(
            name: "GraphQLTypesTests",
            dependencies: ["GraphQL", "GraphQLServing", "GraphQLTypeGeneration"],
            exclude: ["Snapshot"], plugins: ["GraphQLTypes"]),
        // The entry points for other programs. Its modules are few, so that scripts/check can build them with sanitizers.
        .testTarget(
            name: "GraphQLNIOTests",
            dependencies: [
                "Basics", "EchoServer", "EventLoops", "GraphQL", "GraphQLNIO", "GraphQLServing",
                "Gzip", "SocketClient", "Telemetry", "TestBasics",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .testTarget(
            name: "GraphQLPostgresTests",
            dependencies: [
                "Basics", "EventLoops", "GraphQL", "GraphQLPostgres", "Postgres", "TestBasics",
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
    ])

// MARK: Product: Bookplate itself

floor(
    "Product",
    [
        .target(name: "Ranking"),
        .target(
            name: "BookSources", dependencies: ["Basics", "HTTPFetch"],
            resources: [
                .embedInCode("Record/html-entities.txt"), .embedInCode("Record/languages.txt"),
            ]),
        // The context, runner, caller, errors, rates, documents, and usage of a request.
        .target(
            name: "Requests",
            dependencies: [
                "Basics", "GraphQL", "GraphQLPostgres", "GraphQLServing", "Identity", "JobQueue",
                "Postgres", "Telemetry",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            plugins: ["SchemaVersion"]),
        .target(
            name: "Bookplate",
            dependencies: [
                "GraphQLServing",
                "Basics", "BookSources", "EventLoops", "GraphQL", "GraphQLPostgres",
                "HTTPFetch", "Identity", "ImageProcessing", "JobQueue", "ObjectStorage", "Postgres",
                "Ranking", "Requests",
                "Telemetry", "Zip",
                .product(name: "Logging", package: "swift-log"),
            ],
            // A link to the file at the top: the schema that is read is the schema that is served.
            resources: [
                .embedInCode("App/schema.graphql"), .embedInCode("Library/Books/isbn-ranges.txt"),
                .embedInCode("OAuth/Page/oauth.css"), .embedInCode("OAuth/Page/oauth.js"),
                .embedInCode("Sharing/Page/sharing.css"),
            ]),
        // The work of operators, which only bookplate-admin does.
        .target(
            name: "Operations",
            dependencies: [
                "Basics", "BookSources", "Bookplate", "GraphQL", "Gzip", "HTTPFetch", "Identity",
                "ImageProcessing", "ObjectStorage", "Postgres", "Requests", "Telemetry", "Zip",
            ]),
        .target(
            name: "Server",
            dependencies: [
                "Basics", "Config", "GraphQL", "GraphQLExplorer", "GraphQLNIO", "GraphQLServing",
                "ObjectStorage",
                "Telemetry", "Version",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The files of migrations/, as text in the program bookplate-admin.
        .target(name: "EmbeddedMigrations", plugins: ["EmbedFiles"]),
    ],
    tests: [
        .testTarget(name: "RankingTests", dependencies: ["Ranking"]),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Config", "EchoServer", "GraphQL", "GraphQLExplorer", "GraphQLNIO",
                "GraphQLServing", "Server", "SocketClient", "Telemetry", "TestBasics",
                "TestSupport", "Version",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]),
        .testTarget(
            name: "BookSourcesTests",
            dependencies: ["Basics", "BookSources", "HTTPFetch", "LoopbackHTTP", "TestBasics"],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "BookplateTests",
            dependencies: [
                "CMalloc",
                "GraphQLPostgres",
                "GraphQLServing",
                "EventLoops", "HTTPFetch", "Telemetry",
                .product(name: "NIOPosix", package: "swift-nio"),
                "Basics", "BookSources", "Bookplate", "Config", "GraphQL", "Identity",
                "ImageProcessing", "JobQueue", "LoopbackHTTP", "ObjectStorage", "Postgres",
                "Operations", "Requests", "S3Storage", "TestBasics", "TestSupport", "Zip",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Library/Import/Fixtures"]),
        .testTarget(
            name: "RequestsTests",
            dependencies: [
                "Basics", "Bookplate", "EventLoops", "GraphQL", "GraphQLServing", "JobQueue",
                "Operations", "Postgres", "Requests", "TestBasics", "TestSupport",
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "OperationsTests",
            dependencies: [
                "Bookplate", "GraphQL", "Operations", "Postgres", "TestBasics", "TestSupport",
            ]),
    ])

// MARK: Client: the library on a reader's device. It uses nothing of the server.

floor(
    "Client",
    [
        .target(
            name: "BookplateClient", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
        // Also a package of its own, which depends on the product as an app does.
        .executableTarget(
            name: "Bookshelf", dependencies: ["BookplateClient"],
            path: "Examples/Bookshelf/Sources"),
    ],
    tests: [
        .testTarget(
            name: "BookplateClientTests",
            dependencies: [
                "BookplateClient", "ClientSimulation", "GraphQL", "TestBasics",
                .product(name: "GRDB", package: "GRDB.swift"),
            ])
    ])

// MARK: Programs: wiring, and the parsing of arguments

floor(
    "Programs",
    [
        .executableTarget(name: "RankingTool", dependencies: ["Ranking", "Version"]),
        // The only program that loads libvips.
        .executableTarget(
            name: "Imager", dependencies: ["CSandbox", "CVips", "ImageProcessing", "Version"]),
        .executableTarget(
            name: "BookplateServer",
            dependencies: [
                "Basics", "CMalloc",
                "GraphQL", "GraphQLExplorer", "GraphQLNIO", "GraphQLServing", "HTTPFetch",
                "Identity", "Postgres",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                "BookSources", "Bookplate", "Config", "EventLoops", "ImageProcessing", "JobQueue",
                "MQTT",
                "ObjectStorage", "Requests", "S3Storage", "Server", "Telemetry", "Version",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "Admin",
            dependencies: [
                "Basics", "GraphQL", "Identity", "Postgres",
                "BookSources", "Bookplate", "Config", "EmbeddedMigrations", "HTTPFetch",
                "ImageProcessing", "JobQueue",
                "MQTT", "ObjectStorage", "Operations", "Requests", "S3Storage", "Version",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    tests: [
        .testTarget(
            name: "AdminTests",
            dependencies: [
                "Admin", "EmbeddedMigrations", "GraphQL", "Postgres",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // It runs the executables of the same build; no dependency, for they are built with the tests.
        .testTarget(
            name: "JourneyTests",
            dependencies: [
                "Basics", "Bookplate", "BookplateClient", "ClientSimulation", "Config",
                "EventLoops",
                "GraphQL", "Identity", "LoopbackHTTP",
                "MosquittoBroker", "ObjectStorage", "Operations", "Postgres", "S3Storage",
                "SocketClient", "TestBasics", "TestSupport", "Version", "Zip",
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            exclude: ["Clients", "Faults/disk.c"]),
    ])

// MARK: Modules that tests share

floor(
    "Support", in: "Tests",
    [
        .target(name: "LoopbackHTTP"),
        // Waiting, and random numbers from a seed. Depends on nothing.
        .target(name: "TestBasics"),
        .target(
            name: "SocketClient",
            dependencies: [.product(name: "NIOPosix", package: "swift-nio")]),
        .target(name: "MosquittoBroker"),
        .target(
            name: "TestSupport",
            dependencies: [
                "GraphQLServing",
                "Basics", "BookSources", "Bookplate", "EventLoops", "GraphQL", "HTTPFetch",
                "Identity", "Config", "ImageProcessing", "JobQueue", "LoopbackHTTP",
                "ObjectStorage", "Operations",
                "Postgres", "Requests",
                "S3Storage", "TestBasics",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // A server whose responses contain the requests.
        .target(
            name: "EchoServer",
            dependencies: [
                "GraphQL", "GraphQLNIO", "GraphQLServing", "SocketClient", "Telemetry",
                "TestBasics",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(name: "LinkRefusal"),
        // Devices of a reader, their network, and a model of the server.
        .target(
            name: "ClientSimulation",
            dependencies: [
                "BookplateClient", "TestBasics", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
    ])

package.targets += [
    // Checks of the project itself: dependencies, prose, and conventions.
    .testTarget(name: "ProjectTests", dependencies: ["Version"]),
    .plugin(name: "EmbedFiles", capability: .buildTool()),
    .plugin(name: "SchemaVersion", capability: .buildTool()),
    // Generates Swift types and protocols of resolvers from a schema, also in other packages.
    .plugin(
        name: "GraphQLTypes", capability: .buildTool(), dependencies: ["GraphQLTypesTool"]),
]

// Along the way of a request, an async function runs where its caller does, on the event loop: it need not look for its
// executor at every call and return.
for target in package.targets
where [
    "Basics", "GraphQL", "GraphQLExplorer", "GraphQLPostgres", "GraphQLServing", "GraphQLNIO",
    "JobQueue", "Requests", "Bookplate", "Operations",
    "Server", "BookplateServer",
]
.contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
}

// scripts/test asks for this. Elsewhere a newer compiler that warns of more still builds the project.
if Context.environment["WARNINGS_AS_ERRORS"] == "1" {
    for target in package.targets where ![.system, .plugin].contains(target.type) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
    }
}

// scripts/check sets this to the targets that it needs. They and their dependencies are kept, and the others are not built.
if let targets = Context.environment["ONLY_TARGETS"] {
    var names = targets.split(separator: " ").map(String.init)
    var kept: [Target] = []
    while let name = names.popLast() {
        guard !kept.contains(where: { $0.name == name }),
            let target = package.targets.first(where: { $0.name == name })
        else { continue }
        kept.append(target)
        for case .byNameItem(let dependency, _) in target.dependencies { names.append(dependency) }
        for case .plugin(let plugin, _) in target.plugins ?? [] { names.append(plugin) }
    }
    package.targets = kept
    package.products.removeAll { product in
        let targets =
            (product as? Product.Executable)?.targets ?? (product as? Product.Library)?.targets
        return targets?.allSatisfy { name in kept.contains { $0.name == name } } != true
    }
}
