// swift-tools-version: 6.2
import PackageDescription

// Where a module may point: Server, Admin -> Bookplate -> {GraphQL, Postgres, Identity, HTTPFetch}.
// The system libraries' Debian packages are named once, in scripts/packages.
let package = Package(
    name: "bookplate",
    products: [
        .executable(name: "bookplate", targets: ["Server"]),
        .executable(name: "bookplate-admin", targets: ["Admin"]),
        .executable(name: "graphql-tool", targets: ["GraphQLTool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "GraphQL",
            // Spans in the lexer, which outlive a call but not the source they borrow.
            swiftSettings: [.enableExperimentalFeature("Lifetimes")]),
        .executableTarget(name: "GraphQLTool", dependencies: ["GraphQL"]),

        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(
            name: "Postgres",
            dependencies: [
                "CLibPQ",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        .systemLibrary(
            name: "CLibCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CCurl", dependencies: ["CLibCurl"]),
        .target(
            name: "HTTPFetch", dependencies: ["CCurl"]),

        .systemLibrary(name: "CJWT", pkgConfig: "libjwt", providers: [.apt(["libjwt-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "Identity",
            dependencies: ["CJWT", "CCrypto", "HTTPFetch"]),

        .target(
            name: "Bookplate",
            dependencies: [
                "GraphQL", "Postgres", "Identity", "HTTPFetch",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "Server",
            dependencies: [
                "Bookplate",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "Admin",
            dependencies: [
                "Bookplate",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        .testTarget(name: "GraphQLTests", dependencies: ["GraphQL"]),
    ],
    swiftLanguageModes: [.v6]
)

// scripts/test asks for this. Elsewhere a newer compiler that warns of more still builds the project.
if Context.environment["WARNINGS_AS_ERRORS"] == "1" {
    for target in package.targets where target.type != .system {
        target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
    }
}
