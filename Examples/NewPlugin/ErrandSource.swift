import ErrandEssentials

/// The location of Errand for the new package.
enum ErrandSource {
    /// A directory, by its path.
    case directory(String)
    /// A repository, by its URL.
    case repository(String)

    /// Parses the option's value. With `nil`, uses the clone that this program was built in.
    init(_ text: String?) throws {
        guard let text else {
            self = try Self.checked(Self.clone.path)
            return
        }
        if text.contains("://") || text.hasPrefix("git@") {
            self = .repository(text)
        } else {
            self = try Self.checked(URL(filePath: text).standardizedFileURL.path)
        }
    }

    /// The clone that this program was built in.
    private static let clone = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Whether that clone has a module with this name.
    static func hasModule(_ name: String) -> Bool {
        name.hasPrefix("Errand")
            && ["Core", "Plugins"].contains { layer in
                FileManager.default.fileExists(
                    atPath: clone.appending(path: "Sources/\(layer)").path + "/" + name.dropFirst("Errand".count))
            }
    }

    private static func checked(_ path: String) throws -> ErrandSource {
        guard FileManager.default.fileExists(atPath: path + "/Sources/Core/Errand/Errand.swift") else {
            throw NewPluginCommand.Problem("\(path) isn't a clone of Errand; pass the path of one with --errand")
        }
        return .directory(path)
    }

    /// The dependency for the manifest.
    var dependency: String {
        switch self {
        case .directory(let path): ".package(name: \"Errand\", path: \(Self.literal(path)))"
        case .repository(let url): ".package(url: \(Self.literal(url)), .upToNextMinor(from: \"0.1.0\"))"
        }
    }

    /// A sentence about the location for the README.
    var remark: String {
        guard case .directory = self else { return "" }
        return " The manifest finds Errand in a directory of this machine: name a repository there before you publish."
    }

    /// The package's name, for its products.
    var package: String {
        guard case .repository(let url) = self else { return "\"Errand\"" }
        let last = url.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? "errand"
        return Self.literal(last.hasSuffix(".git") ? String(last.dropLast(4)) : last)
    }

    /// Quotes a text as a Swift string literal.
    private static func literal(_ text: String) -> String {
        let escaped = text.map { character in
            switch character {
            case "\\", "\"": "\\\(character)"
            case "\n": "\\n"
            case "\r": "\\r"
            default: "\(character)"
            }
        }
        return "\"\(escaped.joined())\""
    }
}
