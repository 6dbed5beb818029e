// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "graphql-hummingbird",
    products: [.library(name: "GraphQLHummingbird", targets: ["GraphQLHummingbird"])],
    dependencies: [
        .package(name: "bookplate", path: "../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "GraphQLHummingbird",
            dependencies: [
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "GraphQLServing", package: "bookplate"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "HummingbirdExample",
            dependencies: [
                "GraphQLHummingbird",
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]),
    ]
)
