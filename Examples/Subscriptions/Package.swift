// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "subscriptions",
    dependencies: [.package(name: "bookplate", path: "../..")],
    targets: [
        .executableTarget(
            name: "Subscriptions",
            dependencies: [
                .product(name: "GraphQL", package: "bookplate"),
                .product(name: "GraphQLNIO", package: "bookplate"),
            ],
            path: "Sources", resources: [.embedInCode("schema.graphql")])
    ]
)
