// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "ErrandOpenAPI",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ErrandOpenAPI", targets: ["ErrandOpenAPI"])
    ],
    dependencies: [
        .package(name: "Errand", path: "../../.."),
        .package(name: "ErrandHTTPTypes", path: "../HTTPTypes"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "ErrandOpenAPI",
            dependencies: [
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandEssentials", package: "Errand"),
                .product(name: "ErrandHTTPSyntax", package: "Errand"),
                .product(name: "ErrandHTTPTypes", package: "ErrandHTTPTypes"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandOpenAPITests",
            dependencies: [
                .target(name: "ErrandOpenAPI"),
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandCache", package: "Errand"),
                .product(name: "ErrandConformance", package: "Errand"),
                .product(name: "ErrandRetry", package: "Errand"),
                .product(name: "ErrandSystemTransport", package: "Errand"),
                .product(name: "ErrandTesting", package: "Errand"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime"),
            ],
            exclude: ["Generated/openapi.yaml"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
