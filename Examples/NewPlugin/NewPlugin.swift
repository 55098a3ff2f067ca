import ErrandEssentials

/// The package to write.
struct NewPlugin {
    let kind: PluginKind
    let name: PluginName
    let errand: ErrandSource

    /// The files by path, in reading order.
    var files: [(path: String, text: String)] {
        let template = kind.template(name)
        return [
            ("README.md", readme(template)),
            ("Package.swift", manifest(template)),
            ("Sources/\(name.module)/\(name.type).swift", Self.sorted(template.source)),
            ("Tests/\(name.module)Tests/\(name.type)Tests.swift", Self.sorted(template.tests)),
            (".gitignore", ".build/\n.swiftpm/\nPackage.resolved\n"),
            (
                ".swift-format",
                #"{ "version": 1, "lineLength": 120, "indentation": { "spaces": 4 }, "indentConditionalCompilationBlocks": false }"#
                    + "\n"
            ),
        ]
    }

    /// Writes the files and returns their paths. If something already exists there, throws without changing anything.
    func write(to directory: String) throws -> [String] {
        let folder = URL(filePath: directory)
        let manager = FileManager.default
        var isDirectory = false
        #if canImport(Darwin)
        var isFolder: ObjCBool = false
        let exists = manager.fileExists(atPath: folder.path, isDirectory: &isFolder)
        isDirectory = isFolder.boolValue
        #else
        let exists = manager.fileExists(atPath: folder.path, isDirectory: &isDirectory)
        #endif
        if exists {
            guard isDirectory else { throw NewPluginCommand.Problem("\(directory) is a file") }
            guard try manager.contentsOfDirectory(atPath: folder.path).isEmpty else {
                throw NewPluginCommand.Problem("\(directory) is not empty")
            }
        }
        for file in files {
            let place = folder.appending(path: file.path)
            try manager.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: place, options: .withoutOverwriting)
        }
        return files.map(\.path)
    }

    /// Sorts the imports at the start of a source by module. Their order depends on the plugin's name.
    private static func sorted(_ source: String) -> String {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let imports = lines.prefix { $0.hasPrefix("import ") || $0.hasPrefix("public import ") }
        func module(_ line: Substring) -> Substring { line.split(separator: " ").last ?? line }
        return (imports.sorted { module($0) < module($1) } + lines.dropFirst(imports.count)).joined(separator: "\n")
    }

    private func manifest(_ template: PluginTemplate) -> String {
        func products(_ modules: [String]) -> String {
            let comma = modules.count > 1 ? "," : ""
            return modules.map { "                .product(name: \"\($0)\", package: \(errand.package))\(comma)\n" }
                .joined()
        }
        return """
            // swift-tools-version: 6.3

            import PackageDescription

            /// The same settings as Errand's modules. Without the last one, each filter call switches executors.
            let settings: [SwiftSetting] = [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]

            let package = Package(
                name: "\(name.module)",
                platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
                products: [
                    .library(name: "\(name.module)", targets: ["\(name.module)"])
                ],
                dependencies: [
                    \(errand.dependency)
                ],
                targets: [
                    .target(
                        name: "\(name.module)",
                        dependencies: [
            \(products(template.modules))            ],
                        swiftSettings: settings),
                    .testTarget(
                        name: "\(name.module)Tests",
                        dependencies: [
                            .target(name: "\(name.module)"),
            \(products(template.modules + template.testModules))            ],
                        swiftSettings: settings),
                ],
                swiftLanguageModes: [.v6]
            )

            """
    }

    private func readme(_ template: PluginTemplate) -> String {
        """
        # \(name.module)

        \(template.summary)

        ```swift
        import Errand
        import \(name.module)

        \(template.usage)
        ```

        Add the package to yours:

        ```swift
        .package(path: "../\(name.module)"),
        .product(name: "\(name.module)", package: "\(name.module)"),
        ```

        `swift test` runs its tests, among them the conformance suite of `\(template.suite)`.\(errand.remark)

        """
    }
}
