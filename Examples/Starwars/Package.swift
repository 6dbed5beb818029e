// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "starwars",
    dependencies: [.package(name: "bookplate", path: "../..")],
    targets: [
        .executableTarget(
            name: "Starwars",
            dependencies: [
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "GraphQLNIO", package: "bookplate"),
            ],
            path: "Sources", plugins: [.plugin(name: "GraphQLTypes", package: "bookplate")])
    ]
)
