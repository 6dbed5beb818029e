// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "existing-server",
    dependencies: [
        .package(name: "bookplate", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "ExistingServer",
            dependencies: [
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "GraphQLNIO", package: "bookplate"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources")
    ]
)
