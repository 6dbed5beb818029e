// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "bookshelf",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "bookplate", path: "../..")],
    targets: [
        .executableTarget(
            name: "Bookshelf",
            dependencies: [.product(name: "BookplateClient", package: "bookplate")],
            path: "Sources")
    ]
)
