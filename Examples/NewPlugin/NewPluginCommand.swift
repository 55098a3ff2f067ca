import ErrandEssentials

/// `errand-new`: writes a plugin package that builds and passes its tests right away.
struct NewPluginCommand {
    let output: (String) -> Void
    let complaint: (String) -> Void

    static let usage = """
        usage: errand-new KIND NAME [--directory DIRECTORY] [--errand PATH-OR-URL] [--prefix PREFIX]

        Writes a package for an Errand plugin, with tests that pass: a type with one working behaviour, tests that run
        its conformance suite, and a README.

        KIND         \(PluginKind.allCases.map(\.rawValue).joined(separator: ", "))
        NAME         the name of the type, such as RateLimit
        --directory  where to write it; ./PREFIXNAME by default. The directory must be empty or not exist
        --errand     the Errand that the package depends on: a directory or a repository URL; this clone by default
        --prefix     the prefix of the package and its module; Errand by default
        """

    /// Returns the exit status: 0 on success, 1 if the package can't be written, 2 for invalid arguments.
    func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            output(Self.usage)
            return 0
        }
        let plugin: NewPlugin
        let directory: String
        do { (plugin, directory) = try Self.parse(arguments) } catch {
            complaint("errand-new: \(error)\n\n\(Self.usage)")
            return 2
        }
        do {
            for file in try plugin.write(to: directory) { output("\(directory)/\(file)") }
        } catch {
            complaint("errand-new: \(error)")
            return 1
        }
        output("\nswift test --package-path \(Self.quoted(directory))")
        return 0
    }

    /// Why the arguments or the target directory can't be used.
    struct Problem: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private static func parse(_ arguments: [String]) throws -> (NewPlugin, directory: String) {
        var words: [String] = []
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else {
                words.append(argument)
                continue
            }
            guard ["--directory", "--errand", "--prefix"].contains(argument) else {
                throw Problem("unknown option \(argument)")
            }
            guard options[argument] == nil else { throw Problem("\(argument) is given twice") }
            guard let value = rest.popFirst(), !value.isEmpty, !value.hasPrefix("--") else {
                throw Problem("\(argument) needs a value")
            }
            options[argument] = value
        }
        guard let kindName = words.first else { throw Problem("a kind and a name are missing") }
        guard let kind = PluginKind(rawValue: kindName) else { throw Problem("unknown kind \(kindName)") }
        guard words.count == 2 else { throw Problem(words.count < 2 ? "a name is missing" : "expected one name") }
        let name = try PluginName(words[1], prefix: options["--prefix"] ?? "Errand")
        let errand = try ErrandSource(options["--errand"])
        return (NewPlugin(kind: kind, name: name, errand: errand), options["--directory"] ?? name.module)
    }

    /// Quotes a text for a shell.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
        return isPlain
            ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
