// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "library",
    dependencies: [.package(name: "bookplate", path: "../..")],
    targets: [
        .executableTarget(
            name: "Library",
            dependencies: [
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "GraphQLNIO", package: "bookplate"),
            ],
            path: "Sources")
    ]
)
