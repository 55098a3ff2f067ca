import Foundation
import PackagePlugin

/// `swift package check-requests` finds members that look like requirements of Errand's protocols but don't implement
/// them.
@main struct CheckRequests: CommandPlugin {
    private static let usage = """
        usage: swift package check-requests [--target NAME ...]

        Asks the compiler for the members of every type that conforms to a protocol of Errand, and reports those that have
        the name of a requirement and another type, or a name one or two letters away. The protocol's default is used instead
        of such a member, without a compiler warning. Checks all targets of the package by default. The exit status
        is 1 if it reports anything.
        """

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        guard extractor.remainingArguments.isEmpty else {
            print(Self.usage)
            if extractor.remainingArguments == ["--help"] { return }
            return Diagnostics.error("unknown arguments: \(extractor.remainingArguments.joined(separator: " "))")
        }
        let targets = try (names.isEmpty ? context.package.targets : context.package.targets(named: names))
            .compactMap { $0 as? SwiftSourceModuleTarget }
        guard !targets.isEmpty else { return Diagnostics.error("the package has no Swift target to check") }

        var graphs: [String] = []
        var (modules, extended): (Set<String>, Set<String>) = ([], [])
        for target in targets {
            let folder = try packageManager.getSymbolGraph(
                for: target, options: .init(minimumAccessLevel: .private, includeSPI: true)
            ).directoryURL
            graphs.append(folder.path)
            modules.formUnion(try Self.protocolModules(in: folder))
            extended.formUnion(try Self.extendedModules(in: folder))
        }
        // The protocols of a type are listed in the symbol graph of the module that declares the type.
        let all = Self.modules(below: context.package)
        extended.subtract(targets.map(\.moduleName))
        var others: [String] = []
        for target in all where extended.contains(target.moduleName) && !target.moduleName.hasPrefix("Errand") {
            let folder = try packageManager.getSymbolGraph(for: target, options: .init(minimumAccessLevel: .internal))
                .directoryURL
            others.append(folder.path)
            modules.formUnion(try Self.protocolModules(in: folder))
        }
        modules.formUnion(extended.filter { $0.hasPrefix("Errand") })
        // The requirements come from Errand's own modules, as this package builds them.
        var requirements: [String] = []
        for target in all where modules.contains(target.moduleName) {
            requirements.append(
                try packageManager.getSymbolGraph(for: target, options: .init(minimumAccessLevel: .public)).directoryURL
                    .path)
        }
        guard !requirements.isEmpty else { return print("no type conforms to one of Errand's protocols") }

        let checker = Process()
        checker.executableURL = try context.tool(named: "errand-check-requests").url
        checker.arguments =
            requirements.flatMap { ["--requirements", $0] } + others.flatMap { ["--extended", $0] } + graphs
        try checker.run()
        checker.waitUntilExit()
        if checker.terminationStatus != 0 {
            Diagnostics.error("some members don't do what their names promise; see above")
        }
    }

    /// The modules of the protocols that the types in a symbol graph conform to.
    private static func protocolModules(in folder: URL) throws -> Set<String> {
        struct Graph: Decodable {
            struct Relationship: Decodable {
                let kind: String
                let targetFallback: String?
            }
            let relationships: [Relationship]
        }
        var modules: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "json" {
            for each in try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file)).relationships
            where each.kind == "conformsTo" {
                guard let module = each.targetFallback?.split(separator: ".").first else { continue }
                modules.insert(String(module))
            }
        }
        return modules.filter { $0.hasPrefix("Errand") }
    }

    /// The modules whose types a module extends: their symbols are in a separate file, `App@Backend.symbols.json`.
    private static func extendedModules(in folder: URL) throws -> Set<String> {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return Set(
            files.compactMap { file in
                let parts = file.lastPathComponent.split(separator: ".")[0].split(separator: "@")
                return parts.count == 2 ? String(parts[1]) : nil
            })
    }

    /// The Swift modules of a package and its dependencies, without duplicates.
    private static func modules(below package: Package) -> [SwiftSourceModuleTarget] {
        var (found, seen, waiting): ([SwiftSourceModuleTarget], Set<String>, [Package]) = ([], [], [package])
        while let next = waiting.popLast() {
            guard seen.insert(next.id).inserted else { continue }
            found += next.targets.compactMap { $0 as? SwiftSourceModuleTarget }
            waiting += next.dependencies.map(\.package)
        }
        return found
    }
}
