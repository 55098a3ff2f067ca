// swift-tools-version: 6.3

import PackageDescription

/// The settings of all targets in Swift, each after its proposal.
let strictSettings: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Returns a plugin, which is also a product. The module's name is `Errand` and the folder's name.
func plugin(_ folder: String, needs more: [Target.Dependency] = [], excluding: [String] = []) -> Target {
    .target(
        name: "Errand\(folder)", dependencies: ["Errand", "ErrandEssentials"] + more,
        path: "Sources/Plugins/\(folder)", exclude: excluding)
}

/// A test target and the programs that its tests start.
struct Suite {
    let target: Target
    let programs: [String]

    init(_ target: Target, runs programs: [String] = []) {
        (self.target, self.programs) = (target, programs)
        target.dependencies += programs.map { .byName(name: $0) }
    }
}

/// Returns a module's tests. They can import the test kit.
func suite(_ folder: String, needs more: [Target.Dependency] = [], runs programs: [String] = []) -> Suite {
    Suite(
        .testTarget(
            name: "Errand\(folder)",
            dependencies: ["Errand", "ErrandEssentials", "ErrandTesting", "ErrandTestSupport"] + more,
            path: "Tests/\(folder)"),
        runs: programs)
}

/// Returns a program to run or to copy from. The command has the target's name, unless a product renames it.
func program(
    _ name: String, in folder: String, needs more: [Target.Dependency] = [], excluding: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: ["Errand", "ErrandEssentials", "ErrandTesting"] + more,
        path: folder, exclude: excluding)
}

/// Whether there are targets with SwiftUI: on macOS, and if `Tests/Platforms/check` type-checks for Apple's systems.
#if os(macOS)
let hasSwiftUI = true
#else
let hasSwiftUI = Context.environment["ERRAND_APPLE"] != nil
#endif

let curlPlatforms: [Platform] = [.linux, .android]
let applePlatforms: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]

/// The modules that every app links, along with `ErrandSupport`. Each depends only on `ErrandSupport` and on modules
/// above it.
let core: [Target] = [
    .target(name: "ErrandEssentials", path: "Sources/Core/Essentials"),
    .target(
        name: "ErrandMessageSyntax", dependencies: ["CErrandNames", "ErrandEssentials", "ErrandSupport"],
        path: "Sources/Core/Syntax", exclude: ["International"]),
    .target(
        name: "ErrandHTTP", dependencies: ["ErrandEssentials", "ErrandMessageSyntax", "ErrandSupport"],
        path: "Sources/Core/HTTP"),
    .target(
        name: "Errand", dependencies: ["ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax", "ErrandSupport"],
        path: "Sources/Core/Errand"),
]

/// Returns a kit: code that several plugins share. The module's name is `Errand` and the folder's name.
func kit(_ folder: String, needs dependencies: [Target.Dependency], excluding: [String] = []) -> Target {
    .target(
        name: "Errand\(folder)", dependencies: dependencies, path: "Sources/Plugins/Kits/\(folder)", exclude: excluding)
}

/// The kits that are products, for authors of plugins. The grammar has several modules, because SwiftPM builds each
/// module that a target depends on.
let kits: [Target] = [
    kit("Backoff", needs: ["ErrandHTTP"]),
    kit("HTTPFields", needs: ["ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax", "ErrandSupport"]),
    kit("HTTPSyntax", needs: ["ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax"]),
    kit("JSONSyntax", needs: ["ErrandMessageSyntax"]),
    kit(
        "Keys", needs: ["CErrandKeys", "ErrandDigests", "ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax"],
        excluding: ["CShim"]),
    kit(
        "Redaction",
        needs: [
            "ErrandEssentials", "ErrandHTTP", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax",
            "ErrandSupport",
        ]),
    kit("States", needs: ["Errand", "ErrandCollections", "ErrandHTTP"]),
    kit("TLS", needs: ["ErrandEssentials", "ErrandHTTP", "ErrandMessageSyntax"]),
    kit(
        "Transfers",
        needs: [
            "Errand", "ErrandBackoff", "ErrandCollections", "ErrandEssentials", "ErrandHTTPFields", "ErrandPlatform",
            "ErrandSupport",
        ]),
]

/// Modules that aren't products: `ErrandSupport` (files, bytes, POSIX), and the kits of this package's plugins.
let shared: [Target] = [
    .target(name: "ErrandSupport", dependencies: ["ErrandEssentials"], path: "Sources/Core/System"),
    kit("Collections", needs: []),
    kit("ContentCodings", needs: ["CErrandCodings", "ErrandMessageSyntax"]),
    kit("Digests", needs: ["ErrandEssentials", "ErrandHTTP", "ErrandSupport"]),
    kit("Platform", needs: ["ErrandEssentials", "ErrandSupport"]),
    kit("Punycode", needs: []),
]

let plugins: [Target] = [
    plugin("Authentication", needs: ["ErrandDigests", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("Batch", needs: ["ErrandCollections", "ErrandStates", "ErrandSupport"]),
    plugin(
        "Cache",
        needs: ["ErrandCollections", "ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("CacheTesting", needs: ["ErrandCache"]),
    plugin("Chain", needs: ["ErrandMessageSyntax", "ErrandStates"]),
    plugin("Coalescing", needs: ["ErrandSupport"]),
    plugin("Compression", needs: ["CErrandCodings", "ErrandMessageSyntax"]),
    plugin(
        "Conformance",
        needs: [
            "ErrandContentCodings", "ErrandMessageSyntax", "ErrandPlatform", "ErrandSupport", "ErrandTesting",
        ]),
    plugin("Cookies", needs: ["ErrandMessageSyntax", "ErrandPunycode", "ErrandSupport"]),
    plugin(
        "CurlTransport",
        needs: ["CErrandCodings", "CErrandCurl", "ErrandMessageSyntax", "ErrandSupport", "ErrandTLS"],
        excluding: ["CShim"]),
    plugin("Envelopes"),
    plugin(
        "Inspector",
        needs: [
            "ErrandCollections", "ErrandMessageSyntax", "ErrandPlatform", "ErrandRecording", "ErrandRedaction",
            "ErrandSupport",
        ]),
    plugin("JSONDecoding", needs: ["ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin(
        "JSONSchema",
        needs: ["ErrandJSONSyntax", "ErrandJSONValidation", "ErrandMessageSyntax", "ErrandPunycode", "ErrandSupport"]),
    plugin("JSONValidation", needs: ["ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin(
        "LoadingIndicatorLog",
        needs: [
            "ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandPlatform", "ErrandRedaction",
            "ErrandStates", "ErrandSupport",
        ]),
    plugin("Multipart", needs: ["ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin(
        "OAuth",
        needs: [
            "ErrandAuthentication", "ErrandCollections", "ErrandDigests", "ErrandKeys", "ErrandMessageSyntax",
            "ErrandPlatform", "ErrandSupport",
        ]),
    plugin("OAuthTesting", needs: ["ErrandOAuth"]),
    plugin("Outbox", needs: ["ErrandBackoff", "ErrandDigests", "ErrandStates", "ErrandSupport"]),
    plugin("Paging", needs: ["ErrandHTTPFields", "ErrandMessageSyntax", "ErrandStates"]),
    plugin("Recording", needs: ["ErrandRedaction", "ErrandSupport"]),
    plugin(
        "Replay",
        needs: [
            "ErrandContentCodings", "ErrandDigests", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax",
            "ErrandRecording", "ErrandRedaction", "ErrandSupport",
        ]),
    plugin(
        "ResumableDownload",
        needs: [
            "ErrandBackoff", "ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandPlatform",
            "ErrandSupport", "ErrandTransfers",
        ]),
    plugin(
        "ResumableUpload",
        needs: [
            "ErrandBackoff", "ErrandDigests", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport",
            "ErrandTransfers",
        ]),
    plugin("Retry", needs: ["ErrandBackoff", "ErrandHTTPFields", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("Signing", needs: ["ErrandHTTPFields", "ErrandKeys", "ErrandMessageSyntax", "ErrandSupport"]),
    plugin("Streaming", needs: ["ErrandBackoff", "ErrandJSONSyntax", "ErrandStates", "ErrandSupport"]),
    plugin(
        "SystemTransport",
        needs: [
            .target(name: "ErrandCurlTransport", condition: .when(platforms: curlPlatforms)),
            .target(name: "ErrandURLSessionTransport", condition: .when(platforms: applePlatforms)),
        ]),
    plugin("Testing", needs: ["ErrandDigests", "ErrandPlatform", "ErrandSupport"]),
    plugin(
        "URLFilters",
        needs: [
            "ErrandDigests", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandMessageSyntax", "ErrandSupport",
        ]),
    plugin("URLSessionTransport", needs: ["ErrandMessageSyntax", "ErrandTLS"]),
    plugin(
        "WebSocket",
        needs: [
            "CErrandCodings", "ErrandBackoff", "ErrandCollections", "ErrandDigests", "ErrandMessageSyntax",
            "ErrandStates", "ErrandSupport",
        ]),
    plugin("XML", needs: ["ErrandMessageSyntax", "ErrandSupport"]),
]

/// All plugins except the test kit, which each program depends on anyway.
let everything: [Target.Dependency] = plugins.map(\.name).filter { $0 != "ErrandTesting" }.map { .byName(name: $0) }

/// Helpers of several suites, and a helper of the suites and the benchmarks. They aren't products.
let testSupport: [Target] = [
    .target(
        name: "ErrandTestSupport",
        dependencies: ["CErrandTestWidth", "Errand", "ErrandEssentials", "ErrandTesting", "ErrandTestPrograms"],
        path: "Tests/Shared", exclude: ["Programs", "Width"]),
    .target(
        name: "ErrandTestPrograms", dependencies: ["Errand", "ErrandEssentials", "ErrandTesting"],
        path: "Tests/Shared/Programs"),
]

/// With this trait, a program links libcurl and zlib, statically or dynamically, instead of loading them at run time.
let linkedLibcurl = "LinkedLibcurl"

func shim(_ name: String, in folder: String, links library: String) -> Target {
    .target(
        name: name, path: folder, publicHeadersPath: "include",
        cSettings: [.define("ERRAND_LINKED_LIBCURL", .when(platforms: curlPlatforms, traits: [linkedLibcurl]))],
        linkerSettings: [.linkedLibrary(library, .when(platforms: curlPlatforms, traits: [linkedLibcurl]))])
}

let shims: [Target] = [
    shim("CErrandCodings", in: "Sources/Plugins/Kits/Codings", links: "z"),
    shim("CErrandCurl", in: "Sources/Plugins/CurlTransport/CShim", links: "curl"),
    .target(
        name: "CErrandNames", path: "Sources/Core/Syntax/International", publicHeadersPath: "include",
        cSettings: [.define("ERRAND_LINKED_LIBCURL", .when(platforms: curlPlatforms, traits: [linkedLibcurl]))]),
    .target(
        name: "CErrandKeys", path: "Sources/Plugins/Kits/Keys/CShim", publicHeadersPath: "include",
        cSettings: [.define("ERRAND_LINKED_LIBCURL", .when(platforms: curlPlatforms, traits: [linkedLibcurl]))]),
    .target(name: "CErrandBareCurl", path: "Tests/Benchmarks/BareCurl", publicHeadersPath: "include"),
    .target(name: "CErrandTestWidth", path: "Tests/Shared/Width", publicHeadersPath: "include"),
    .target(name: "CErrandCounter", path: "Tests/Cost/Counter", publicHeadersPath: "include"),
]

/// The requests of several examples, and the part of the demo app that Linux builds and tests. They aren't products.
let demo: [Target] = [
    .target(name: "ErrandExampleUsers", dependencies: ["Errand"], path: "Examples/Users"),
    .target(
        name: "ErrandExampleShop", dependencies: ["Errand", "ErrandExampleUsers", "ErrandTesting"],
        path: "Examples/Shop"),
    .target(
        name: "ErrandExampleRequests",
        dependencies: [
            "Errand", "ErrandAuthentication", "ErrandCache", "ErrandPaging", "ErrandResumableUpload", "ErrandStreaming",
        ],
        path: "Examples/Requests"),
    .target(
        name: "ErrandAppBackend",
        dependencies: ["Errand", "ErrandExampleRequests", "ErrandExampleUsers", "ErrandTesting"],
        path: "Examples/App/Backend"),
    .target(
        name: "ErrandAppModels",
        dependencies: [
            "Errand", "ErrandAuthentication", "ErrandCache", "ErrandExampleRequests", "ErrandExampleUsers",
            "ErrandPaging", "ErrandResumableUpload", "ErrandRetry", "ErrandStreaming", "ErrandSystemTransport",
        ],
        path: "Examples/App/Models"),
]

/// The demo app's screens, which are a product for an Xcode project, and its program for macOS.
let views: [Target] = [
    .target(
        name: "ErrandAppViews",
        dependencies: ["ErrandAppBackend", "ErrandAppModels", "ErrandExampleRequests", "ErrandResumableUpload"],
        path: "Examples/App/Views"),
    .executableTarget(name: "errand-app", dependencies: ["ErrandAppViews"], path: "Examples/App/Program"),
]

let programs: [Target] = [
    program("errand-checkout", in: "Examples/Checkout", needs: ["ErrandBatch", "ErrandChain"]),
    // A newcomer waits for this program's build, so it depends on few modules.
    program(
        "ErrandQuickstart", in: "Examples/Quickstart",
        needs: ["ErrandBatch", "ErrandChain", "ErrandExampleShop", "ErrandExampleUsers", "ErrandSystemTransport"]),
    program(
        "errand-tour", in: "Examples/Tour",
        needs: everything + ["ErrandExampleRequests", "ErrandExampleShop", "ErrandExampleUsers"]),
    program(
        "errand-bench", in: "Tests/Benchmarks",
        needs: everything + [
            .target(name: "CErrandBareCurl", condition: .when(platforms: [.linux])), "errand-cost", "errand-download",
            "errand-upload",
            "errand-upload-process", "ErrandTestPrograms",
        ],
        excluding: ["BareCurl"]),
    program(
        "errand-cost", in: "Tests/Cost/Program",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandInspector",
            "ErrandLoadingIndicatorLog", "ErrandRecording", "ErrandRetry",
            .target(name: "CErrandCounter", condition: .when(platforms: [.linux])),
        ]),
    .executableTarget(name: "errand-check-requests", path: "Examples/CheckRequests/Tool"),
    program("errand-curl-tool", in: "Examples/CurlTool", needs: ["ErrandConformance"]),
    program("errand-cache-process", in: "Tests/CacheProcess", needs: ["ErrandCache"]),
    program("errand-curl-process", in: "Tests/CurlProcess", needs: ["ErrandCurlTransport"]),
    program(
        "errand-download", in: "Examples/Download",
        needs: [
            .target(name: "ErrandCurlTransport", condition: .when(platforms: curlPlatforms)),
            "ErrandHTTPSyntax", "ErrandResumableDownload", "ErrandSupport", "ErrandSystemTransport",
        ]),
    program(
        "errand-download-process", in: "Tests/DownloadProcess",
        needs: ["ErrandResumableDownload", "ErrandSystemTransport"]),
    program(
        "errand-feed", in: "Examples/Feed",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandExampleRequests", "ErrandPaging", "ErrandRetry",
            "ErrandSystemTransport",
        ]),
    // Depends on Core only, because its size is compared with a limit.
    .executableTarget(
        name: "errand-linkage", dependencies: ["Errand", "ErrandEssentials"], path: "Tests/Linkage/Program"),
    .executableTarget(
        name: "errand-fetch", dependencies: ["Errand", "ErrandCurlTransport", "ErrandEssentials"],
        path: "Tests/Linkage/Fetch"),
    .executableTarget(name: "errand-new", dependencies: ["ErrandEssentials"], path: "Examples/NewPlugin"),
    program(
        "errand-inspector-process", in: "Tests/InspectorProcess",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandInspector", "ErrandResumableDownload", "ErrandRetry",
            "ErrandStreaming", "ErrandSystemTransport", "ErrandWebSocket",
        ]),
    program("errand-outbox-process", in: "Tests/OutboxProcess", needs: ["ErrandOutbox", "ErrandSystemTransport"]),
    program("errand-sockets", in: "Tests/SocketProcess", needs: ["ErrandSystemTransport", "ErrandWebSocket"]),
    program("errand-spinner", in: "Tests/SpinnerProgram", needs: ["ErrandLoadingIndicatorLog"]),
    program(
        "errand-upload", in: "Examples/Upload",
        needs: ["ErrandExampleRequests", "ErrandResumableUpload", "ErrandSystemTransport"]),
    program("errand-upload-process", in: "Tests/UploadProcess", needs: ["ErrandMultipart", "ErrandSystemTransport"]),
    program("errand-validate", in: "Examples/Validate", needs: ["ErrandJSONSchema", "ErrandJSONValidation"]),
    program(
        "errand-watch", in: "Examples/Watch",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandInspector", "ErrandLoadingIndicatorLog",
            "ErrandRecording", "ErrandSystemTransport",
        ]),
]

/// `swift package check-requests`, for packages that depend on this one.
let commands: [Target] = [
    .plugin(
        name: "CheckRequests",
        capability: .command(
            intent: .custom(
                verb: "check-requests",
                description: "Finds members that look like requirements of Errand's protocols and aren't.")),
        dependencies: ["errand-check-requests"], path: "Examples/CheckRequests/Plugin")
]

let suites: [Suite] = [
    suite(
        "AppTests",
        needs: [
            "ErrandAppBackend", "ErrandAppModels", "ErrandCache", "ErrandExampleRequests", "ErrandResumableUpload",
            "ErrandSystemTransport", "ErrandTestPrograms",
        ]),
    suite("AuthenticationTests", needs: ["ErrandAuthentication", "ErrandCache"]),
    suite("BatchTests", needs: ["ErrandBatch"]),
    suite("ChainTests", needs: ["ErrandBatch", "ErrandChain"]),
    suite(
        "CheckRequestsTests", needs: ["ErrandCache", "ErrandTestPrograms"], runs: ["errand-check-requests"]),
    suite("CompressionTests", needs: ["ErrandCompression", "ErrandSystemTransport", "ErrandURLFilters"]),
    suite(
        "ConformanceTests",
        needs: [
            "ErrandCache", "ErrandConformance", "ErrandCookies", "ErrandCurlTransport", "ErrandURLSessionTransport",
        ]),
    suite(
        "CacheTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandCacheTesting", "ErrandChain", "ErrandSupport",
            "ErrandSystemTransport",
        ], runs: ["errand-cache-process"]),
    // The stores in Examples, which readers copy.
    Suite(
        .testTarget(
            name: "ErrandCacheStoresTests",
            dependencies: ["Errand", "ErrandCache", "ErrandCacheTesting", "ErrandTesting"],
            path: "Examples/CacheStores")),
    suite(
        "CoalescingTests",
        needs: [
            "ErrandAuthentication", "ErrandBatch", "ErrandCache", "ErrandCoalescing", "ErrandJSONValidation",
            "ErrandRetry", "ErrandSystemTransport",
        ]),
    suite("CookiesTests", needs: ["ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandSystemTransport"]),
    suite("CoreTests", needs: ["ErrandHTTP", "ErrandStates"]),
    suite(
        "CurlTransportTests",
        needs: ["ErrandConformance", "ErrandCurlTransport", "ErrandHTTPSyntax"], runs: ["errand-curl-process"]),
    suite(
        "DocumentationTests", needs: everything + ["ErrandHTTPSyntax", "ErrandKeys", "ErrandRedaction", "ErrandStates"]),
    Suite(
        .testTarget(
            name: "ErrandIntegrationTests",
            dependencies: [
                "Errand", "ErrandCompression", "ErrandCurlTransport", "ErrandEssentials", "ErrandMultipart",
                "ErrandOAuth", "ErrandResumableDownload", "ErrandResumableUpload", "ErrandSigning",
                "ErrandSystemTransport",
                "ErrandTesting", "ErrandTestSupport", "ErrandURLSessionTransport", "ErrandWebSocket",
            ],
            path: "Tests/Integration")),
    suite(
        "EnvelopesTests",
        needs: [
            "ErrandAuthentication", "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandEnvelopes",
            "ErrandJSONDecoding",
            "ErrandJSONValidation", "ErrandPaging", "ErrandRecording", "ErrandRetry", "ErrandSystemTransport",
        ]),
    suite("HTTPTests", needs: ["ErrandHTTP"]),
    suite("HTTPSyntaxTests", needs: ["ErrandHTTPSyntax"]),
    suite(
        "InspectorTests",
        needs: [
            "ErrandAuthentication", "ErrandBatch", "ErrandCache", "ErrandInspector", "ErrandRecording",
            "ErrandResumableDownload", "ErrandResumableUpload", "ErrandRetry", "ErrandPlatform", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandWebSocket",
        ], runs: ["errand-inspector-process"]),
    suite("JSONDecodingTests", needs: ["ErrandJSONDecoding", "ErrandJSONValidation"]),
    suite("JSONSchemaTests", needs: ["ErrandJSONSchema", "ErrandJSONValidation"], runs: ["errand-validate"]),
    suite("JSONValidationTests", needs: ["ErrandJSONValidation"]),
    suite(
        "KitsTests",
        needs: [
            "ErrandBackoff", "ErrandCollections", "ErrandHTTP", "ErrandPlatform", "ErrandPunycode", "ErrandStates",
            "ErrandSupport", "ErrandTLS",
        ]),
    suite("KeysTests", needs: ["ErrandDigests", "ErrandKeys"]),
    suite(
        "LoadingIndicatorLogTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandLoadingIndicatorLog", "ErrandSystemTransport",
        ], runs: ["errand-spinner", "errand-watch"]),
    suite(
        "MainActorTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandEnvelopes", "ErrandJSONValidation",
            "ErrandLoadingIndicatorLog", "ErrandPaging", "ErrandResumableDownload", "ErrandRetry", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLFilters",
            "ErrandXML",
        ]),
    suite(
        "MultipartTests",
        needs: ["ErrandHTTPSyntax", "ErrandMultipart", "ErrandSystemTransport"], runs: ["errand-upload-process"]),
    suite(
        "NewPluginTests",
        needs: [
            "ErrandCache", "ErrandCacheTesting", "ErrandLoadingIndicatorLog", "ErrandSystemTransport",
        ], runs: ["errand-new"]),
    suite(
        "OAuthTests",
        needs: [
            "ErrandCache", "ErrandDigests", "ErrandInspector", "ErrandKeys", "ErrandLoadingIndicatorLog",
            "ErrandMessageSyntax", "ErrandOAuth", "ErrandOAuthTesting", "ErrandPlatform", "ErrandRecording",
            "ErrandSupport", "ErrandSystemTransport",
        ]),
    suite(
        "OutboxTests", needs: ["ErrandOutbox", "ErrandSupport", "ErrandSystemTransport"],
        runs: ["errand-outbox-process"]),
    suite("PagingTests", needs: ["ErrandPaging"], runs: ["errand-feed"]),
    suite(
        "PluginConformanceTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCacheTesting", "ErrandCoalescing", "ErrandCompression",
            "ErrandConformance", "ErrandCookies", "ErrandInspector", "ErrandJSONValidation",
            "ErrandLoadingIndicatorLog", "ErrandOAuth", "ErrandRecording", "ErrandResumableDownload",
            "ErrandResumableUpload",
            "ErrandRetry", "ErrandSigning", "ErrandURLFilters",
        ]),
    suite(
        "RecordingTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandChain", "ErrandRecording", "ErrandSystemTransport", "ErrandWebSocket",
        ]),
    suite("RedactionTests", needs: ["ErrandHTTP", "ErrandRedaction"]),
    suite(
        "ReplayTests",
        needs: [
            "ErrandCompression", "ErrandConformance", "ErrandHTTPSyntax", "ErrandMultipart", "ErrandRecording",
            "ErrandReplay", "ErrandSystemTransport", "ErrandWebSocket",
        ]),
    suite(
        "ResumableDownloadTests",
        needs: [
            "ErrandCache", "ErrandDigests", "ErrandHTTPSyntax", "ErrandResumableDownload", "ErrandSupport",
            "ErrandSystemTransport",
            "ErrandTransfers", "ErrandURLSessionTransport",
        ], runs: ["errand-download", "errand-download-process"]),
    suite(
        "ResumableUploadTests",
        needs: ["ErrandDigests", "ErrandResumableUpload", "ErrandSupport", "ErrandSystemTransport"],
        runs: ["errand-upload"]),
    suite(
        "RetryTests",
        needs: [
            "ErrandCache", "ErrandCoalescing", "ErrandResumableDownload", "ErrandRetry", "ErrandSystemTransport",
            "ErrandURLFilters",
        ]),
    suite(
        "SigningTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCompression", "ErrandHTTPFields", "ErrandKeys",
            "ErrandLoadingIndicatorLog", "ErrandRecording", "ErrandRetry", "ErrandSigning", "ErrandSystemTransport",
        ]),
    suite(
        "StreamingTests",
        needs: [
            "ErrandBatch", "ErrandCache", "ErrandLoadingIndicatorLog", "ErrandRecording", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLSessionTransport",
        ]),
    // The recipes in Examples, which readers copy.
    Suite(
        .testTarget(
            name: "ErrandRecipesTests",
            dependencies: ["Errand", "ErrandEnvelopes", "ErrandSystemTransport", "ErrandTesting"],
            path: "Examples/Recipes")),
    suite("SupportTests", needs: ["ErrandDigests", "ErrandSupport"]),
    suite(
        "SystemTransportTests", needs: ["ErrandSystemTransport", "ErrandCurlTransport", "ErrandURLSessionTransport"]),
    suite("TestingTests", needs: ["ErrandSystemTransport"]),
    suite("URLFiltersTests", needs: ["ErrandDigests", "ErrandURLFilters", "ErrandSupport", "ErrandSystemTransport"]),
    suite("URLSessionTransportTests", needs: ["ErrandConformance", "ErrandURLSessionTransport"]),
    suite(
        "UsersTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandOutbox", "ErrandPaging",
            "ErrandResumableDownload", "ErrandResumableUpload", "ErrandRetry", "ErrandStreaming",
            "ErrandSystemTransport", "ErrandURLFilters",
        ]),
    suite(
        "WebSocketTests",
        needs: [
            "ErrandAuthentication", "ErrandCache", "ErrandCoalescing", "ErrandCookies", "ErrandCurlTransport",
            "ErrandLoadingIndicatorLog", "ErrandRetry", "ErrandSystemTransport", "ErrandWebSocket",
        ], runs: ["errand-sockets"]),
    suite("WireTests", needs: ["ErrandAuthentication", "ErrandCache", "ErrandRetry", "ErrandSystemTransport"]),
    suite("XMLTests", needs: ["ErrandSystemTransport", "ErrandXML"]),
]

/// `ERRAND_SUITES=CoreTests,CacheTests swift test` builds only these suites and the programs that they run.
let chosenSuites = Context.environment["ERRAND_SUITES"].map { names in
    names.split(separator: ",").map { name in
        guard let suite = suites.first(where: { $0.target.name == "Errand\(name)" }) else {
            fatalError("ERRAND_SUITES: no suite \(name); the suites are \(suites.map { $0.target.name.dropFirst(6) })")
        }
        return suite
    }
}
let chosenPrograms = chosenSuites.map { suites in
    programs.filter { program in suites.contains { $0.programs.contains(program.name) } }
}

let package = Package(
    name: "Errand",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: (core + kits + plugins).map { .library(name: $0.name, targets: [$0.name]) }
        + (chosenSuites == nil ? [.executable(name: "quickstart", targets: ["ErrandQuickstart"])] : [])
        + (chosenSuites == nil ? commands.map { .plugin(name: $0.name, targets: [$0.name]) } : [])
        + (hasSwiftUI ? [.library(name: "ErrandAppViews", targets: ["ErrandAppViews"])] : []),
    traits: [.trait(name: linkedLibcurl, description: "Links libcurl and zlib instead of loading them at run time.")],
    targets: core + kits + shared + plugins + testSupport + shims + demo + (hasSwiftUI ? views : [])
        + (chosenSuites == nil ? commands : []) + (chosenPrograms ?? programs) + (chosenSuites ?? suites).map(\.target),
    swiftLanguageModes: [.v6]
)

/// Returns the settings of a target in Swift.
@MainActor func settings(of target: Target) -> [SwiftSetting] {
    var settings = strictSettings
    // In modules that apps link, `unsafe` marks each place whose memory safety the compiler can't prove.
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    if (core + kits + shared + plugins).contains(where: { $0.name == target.name }) {
        settings.append(.strictMemorySafety())
    }
    // New apps in Xcode have this default, too.
    if ["ErrandAppModels", "ErrandAppViews", "errand-app", "ErrandMainActorTests"].contains(target.name) {
        settings.append(.defaultIsolation(MainActor.self))
    }
    // Release tests test optimized modules. Optimizing the tests too would take most of the build's time.
    if target.type == .test { settings.append(.unsafeFlags(["-Onone"], .when(configuration: .release))) }
    return settings
}

for target in package.targets where target.type != .plugin && !shims.contains(where: { $0.name == target.name }) {
    target.swiftSettings = settings(of: target)
}
