// swift-tools-version: 6.3
import PackageDescription

// Where a module may point: BookplateBookplateServer, Admin -> Bookplate -> {GraphQL, Postgres, Identity, HTTPFetch}.
// Server is the HTTP side: it knows GraphQL, Config and the executor of Postgres, and nothing of the product.
// The system libraries' Debian packages are named once, in scripts/packages.
let package = Package(
    name: "bookplate",
    products: [
        .library(name: "GraphQL", targets: ["GraphQL"]),
        .executable(name: "bookplate", targets: ["BookplateServer"]),
        .executable(name: "bookplate-admin", targets: ["Admin"]),
        .executable(name: "bookplate-imager", targets: ["Imager"]),
        .executable(name: "graphql-tool", targets: ["GraphQLTool"]),
        .executable(name: "ranking-tool", targets: ["RankingTool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "Version"),
        .target(
            name: "GraphQL",
            // Rounding is in libm, which modules that import the C library link by themselves.
            linkerSettings: [.linkedLibrary("m")]),
        .executableTarget(name: "GraphQLTool", dependencies: ["GraphQL", "Version"]),

        .target(name: "Ranking"),
        .executableTarget(name: "RankingTool", dependencies: ["Ranking", "Version"]),

        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CReadiness"),
        .target(name: "Telemetry"),
        // The editor of the explorer page, as bytes in the program.
        .target(name: "CExplorer", exclude: ["codemirror"]),
        .target(
            name: "EventLoops", dependencies: [.product(name: "NIOCore", package: "swift-nio")]),
        .target(
            name: "Postgres",
            dependencies: [
                "CLibPQ", "CReadiness", "EventLoops",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),

        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CCurl", dependencies: ["CLibCurl"]),
        .target(
            name: "HTTPFetch", dependencies: ["CCurl", "Telemetry"]),
        .target(name: "BookSources", dependencies: ["HTTPFetch"]),

        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "Gzip", dependencies: ["CZlib"]),

        .systemLibrary(
            name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .target(
            name: "MQTT",
            dependencies: ["CMosquitto", .product(name: "NIOPosix", package: "swift-nio")]),

        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "Identity",
            dependencies: ["CJWT", "CCrypto", "HTTPFetch"]),

        .target(name: "Objects"),
        .systemLibrary(name: "CLibVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .target(name: "CVips", dependencies: ["CLibVips"]),
        .target(name: "CSandbox"),
        .target(name: "Images"),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .target(name: "Zip", dependencies: ["CArchive"]),
        // The only program that loads libvips.
        .executableTarget(
            name: "Imager", dependencies: ["CSandbox", "CVips", "Images", "Version"]),

        .target(
            name: "Bookplate",
            dependencies: [
                "GraphQL", "Postgres", "Ranking", "Identity", "HTTPFetch", "BookSources", "Images",
                "Objects", "Zip",
                "Telemetry",
                .product(name: "Logging", package: "swift-log"),
            ],
            // A link to the file at the top: the schema that is read is the schema that is served.
            resources: [
                .embedInCode("Schema/schema.graphql"), .embedInCode("Book/isbn-ranges.txt"),
            ]),
        .target(name: "Config"),
        .target(
            name: "Server",
            dependencies: [
                "CExplorer", "Config", "EventLoops", "GraphQL", "Objects", "Telemetry", "Version",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Explorer/Page/explorer.html"),
                .embedInCode("Explorer/Page/explorer.css"),
                .embedInCode("Explorer/Page/explorer.js"),
                .embedInCode("Explorer/Page/answer.js"),
                .embedInCode("Explorer/Page/builder.js"),
                .embedInCode("Explorer/Page/complete.js"),
                .embedInCode("Explorer/Page/docs.js"),
                .embedInCode("Explorer/Page/dom.js"),
                .embedInCode("Explorer/Page/editors.js"),
                .embedInCode("Explorer/Page/export.js"),
                .embedInCode("Explorer/Page/parse.js"),
                .embedInCode("Explorer/Page/request.js"),
                .embedInCode("Explorer/Page/schema.js"),
                .embedInCode("Explorer/Page/signin.js"),
                .embedInCode("Explorer/Page/store.js"),
            ]),
        // glibc's functions for memory, which Swift's module of glibc lacks.
        .systemLibrary(name: "CMalloc"),
        .executableTarget(
            name: "BookplateServer",
            dependencies: [
                "BookSources", "Bookplate", "CMalloc", "Config", "EventLoops", "Images", "MQTT",
                "Objects",
                "Server", "Telemetry", "Version",
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "Admin",
            dependencies: [
                "BookSources", "Bookplate", "Config", "Gzip", "HTTPFetch", "Images", "MQTT",
                "Objects", "Version",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        .testTarget(name: "GraphQLTests", dependencies: ["GraphQL"]),
        .testTarget(name: "RankingTests", dependencies: ["Ranking"]),
        .testTarget(name: "PostgresTests", dependencies: ["EventLoops", "Postgres"]),
        .testTarget(name: "ConfigTests", dependencies: ["Config"]),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry"]),
        .testTarget(name: "AdminTests", dependencies: ["Admin"]),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Config", "EventLoops", "GraphQL", "Server", "SocketClient", "Telemetry",
                "TestSupport", "Version",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .target(name: "LoopbackHTTP", path: "Tests/LoopbackHTTP"),
        .target(name: "SocketClient", path: "Tests/SocketClient"),
        .target(name: "MosquittoBroker", path: "Tests/MosquittoBroker"),
        .testTarget(
            name: "MQTTTests",
            dependencies: [
                "MQTT", "MosquittoBroker", .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(
            name: "HTTPFetchTests", dependencies: ["HTTPFetch", "LoopbackHTTP", "Telemetry"]),
        .testTarget(name: "GzipTests", dependencies: ["Gzip"]),
        .testTarget(
            name: "BookSourcesTests", dependencies: ["BookSources", "HTTPFetch", "LoopbackHTTP"],
            exclude: ["Fixtures"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "BookSources", "Bookplate", "EventLoops", "GraphQL", "HTTPFetch", "Identity",
                "Images", "LoopbackHTTP", "Objects", "Postgres",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Support"),
        .testTarget(
            name: "BookplateTests",
            dependencies: [
                "BookSources", "Bookplate", "GraphQL", "Identity", "Images", "LoopbackHTTP",
                "Objects", "Postgres", "TestSupport", "Version", "Zip",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Import/Fixtures"]),
        // It runs the executables of the same build; no dependency, for they are built with the tests.
        .testTarget(
            name: "JourneyTests",
            dependencies: [
                "Bookplate", "GraphQL", "LoopbackHTTP", "MosquittoBroker", "Objects", "Postgres",
                "SocketClient", "TestSupport", "Version",
            ]),
        .testTarget(name: "ImagesTests", dependencies: ["Images"], exclude: ["Fixtures"]),
        .target(name: "LinkRefusal", path: "Tests/LinkRefusal"),
        .testTarget(name: "ObjectsTests", dependencies: ["LinkRefusal", "Objects"]),
        .testTarget(name: "ZipTests", dependencies: ["Zip"]),
        .testTarget(
            name: "IdentityTests", dependencies: ["Identity", "CCrypto", "LoopbackHTTP"],
            exclude: ["Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)

// Along the way of a request, an async function runs where its caller does, on the event loop: it need not look for its
// executor at every call and return.
for target in package.targets
where ["GraphQL", "Bookplate", "Server", "BookplateServer"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
}

// scripts/test asks for this. Elsewhere a newer compiler that warns of more still builds the project.
if Context.environment["WARNINGS_AS_ERRORS"] == "1" {
    for target in package.targets where target.type != .system {
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
    }
    package.targets = kept
    package.products.removeAll { product in
        let targets =
            (product as? Product.Executable)?.targets ?? (product as? Product.Library)?.targets
        return targets?.allSatisfy { name in kept.contains { $0.name == name } } != true
    }
}
