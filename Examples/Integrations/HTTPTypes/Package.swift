// swift-tools-version: 6.3

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "ErrandHTTPTypes",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ErrandHTTPTypes", targets: ["ErrandHTTPTypes"])
    ],
    dependencies: [
        .package(name: "Errand", path: "../../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    ],
    targets: [
        .target(
            name: "ErrandHTTPTypes",
            dependencies: [
                .product(name: "Errand", package: "Errand"),
                .product(name: "ErrandEssentials", package: "Errand"),
                .product(name: "ErrandHTTPSyntax", package: "Errand"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ErrandHTTPTypesTests",
            dependencies: [
                .target(name: "ErrandHTTPTypes"),
                .product(name: "Errand", package: "Errand"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
