// swift-tools-version: 6.3

import PackageDescription

// A separate package, because Errand has no dependencies, not even in its tests.
let package = Package(
    name: "Peers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Errand", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    ],
    targets: [
        .testTarget(
            name: "PeersTests",
            dependencies: [
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandResumableUpload", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
                .product(name: "ErrandWebSocket", package: "Errand"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOResumableUpload", package: "swift-nio-extras"),
            ],
            path: "Tests")
    ],
    swiftLanguageModes: [.v6]
)
