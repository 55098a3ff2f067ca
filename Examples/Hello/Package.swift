// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "Hello",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "Errand", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Hello",
            dependencies: [
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
            ]),
        .testTarget(
            name: "HelloTests",
            dependencies: [
                "Hello",
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandTesting", package: "Errand"),
            ]),
    ]
)
