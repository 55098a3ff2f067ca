import ErrandEssentials
import Testing

@Suite("The rules of the house") struct HouseTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    private static func sources(in folder: String) throws -> [(path: String, lines: [Substring])] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        // Nested packages, such as the examples, have their own build folders.
        return try paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map { path in
            let text = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
            return ("\(folder)/\(path)", text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    @Test("a value taken out of a lock has a name, so a release build frees it after the unlock")
    func locks() throws {
        let discarded = try Regex(#"(^|[\s{(])_ = .*withLock\b"#)
        var files = 0
        for folder in ["Sources", "Examples"] {
            for (path, lines) in try Self.sources(in: folder) {
                files += 1
                for (number, line) in lines.enumerated()
                where line.contains("withLock") || line.contains("@TaskLocal") {
                    #expect(
                        !line.contains("@TaskLocal") || !line.contains("->"),
                        "\(path):\(number + 1): a release build crashes at a task-local closure; use an object"
                    )
                    #expect(
                        line.firstMatch(of: discarded) == nil || line.contains("//"),
                        "\(path):\(number + 1): name it, and withExtendedLifetime after the lock")
                }
            }
        }
        #expect(files > 500, "the sources were not found")
    }

    @Test("no code of a time source runs under a lock: clocks are read and waits cancelled outside")
    func timeUnderLocks() throws {
        let start = /withLock(?: *\([^()]*\))? *\{/
        let use = /\btime\.(?:now|date|instant)\b|\.cancel\(\)/
        var locks = 0
        for (path, lines) in try Self.sources(in: "Sources") {
            let text = lines.joined(separator: "\n")
            for match in text.matches(of: start) {
                locks += 1
                var depth = 1
                let body = text[match.range.upperBound...].prefix { character in
                    depth += character == "{" ? 1 : character == "}" ? -1 : 0
                    return depth > 0
                }
                #expect(body.firstMatch(of: use) == nil, "\(path): \(body.prefix(200))")
            }
        }
        #expect(locks > 300, "the locks were not found")
    }

    /// The folders of Core, from the bottom up: a module can use the ones above it in this list.
    private static let layers: [(folder: String, module: String)] = [
        ("Essentials", "ErrandEssentials"), ("System", "ErrandSupport"), ("Syntax", "ErrandMessageSyntax"),
        ("HTTP", "ErrandHTTP"), ("Errand", "Errand"),
    ]
    /// C targets of Core's modules and of kits.
    private static let shims = [
        "ContentCodings": "CErrandCodings", "Keys": "CErrandKeys", "Syntax": "CErrandNames",
    ]
    /// The plugins' kits: each can use Core and the kits above it in this list.
    private static let kits = [
        "Backoff", "Collections", "ContentCodings", "Digests", "HTTPFields", "JSONSyntax", "HTTPSyntax", "Keys",
        "Platform", "Punycode",
        "Redaction", "States", "TLS", "Transfers",
    ]
    .map {
        (folder: $0, module: "Errand\($0)")
    }

    private static func folders(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).filter {
            !$0.hasPrefix(".") && !$0.contains(".")
        }
    }

    private static func imports(in folder: String) throws -> [(path: String, module: String)] {
        try sources(in: folder).flatMap { path, lines in
            lines.filter { $0.contains("import ") }.compactMap { line in
                line.firstMatch(of: /^(?:@\w+ )*(?:public |package |internal )?import (\w+)/).map {
                    (path, String($0.1))
                }
            }
        }
    }

    @Test("modules of Core import only modules below them, and kits only Core and the kits below them")
    func coreImports() throws {
        func check(_ modules: [(folder: String, module: String)], in parent: String, above base: Set<String>) throws {
            var below = base
            for (folder, module) in modules {
                for (path, imported) in try Self.imports(in: "\(parent)/\(folder)")
                where imported.contains("Errand") && imported != Self.shims[folder] {
                    #expect(below.contains(imported), "\(path) imports \(imported)")
                }
                below.insert(module)
            }
        }
        try check(Self.layers, in: "Sources/Core", above: [])
        try check(Self.kits, in: "Sources/Plugins/Kits", above: Set(Self.layers.map(\.module)))
        #expect(Set(try Self.folders(in: "Sources/Core")) == Set(Self.layers.map(\.folder)))
        // Codings is the only kit in C.
        #expect(
            Set(try Self.folders(in: "Sources/Plugins/Kits")) == Set(Self.kits.map(\.folder)).union(["Codings"]))
    }

    @Test("modules of Core and plugins import only the part of the grammar that they use")
    func narrowImports() throws {
        for (path, imported) in try Self.imports(in: "Sources") { #expect(imported != "ErrandHTTPSyntax", "\(path)") }
    }

    @Test("plugins don't import other plugins, except for those listed in docs/house.md")
    func pluginImports() throws {
        // A replay reads and writes a recorder's recordings, so it uses the recorder's values and file format. A schema
        // takes the place of a shape, so it uses the request, the check, the problems and the patterns of shapes. The
        // inspector shows the recorder's values and exports its archives. OAuth gives a session its tokens, and its
        // filter is the session's.
        let composed = [
            "SystemTransport": "Transport", "CacheTesting": "Cache", "Conformance": "Testing", "Replay": "Recording",
            "JSONSchema": "JSONValidation", "Inspector": "Recording", "OAuth": "Authentication",
            "OAuthTesting": "OAuth",
        ]
        let core = Set((Self.layers + Self.kits).map(\.module))
        let folders = try Self.folders(in: "Sources/Plugins").filter { $0 != "Kits" }
        #expect(folders.count > 20)
        for folder in folders {
            for (path, imported) in try Self.imports(in: "Sources/Plugins/\(folder)") where imported.hasPrefix("Errand")
            {
                #expect(
                    core.contains(imported) || composed[folder].map { imported.hasSuffix($0) } == true,
                    "\(path) imports \(imported)")
            }
        }
    }

    @Test("each module has an entry point: a file with its name, which describes its folders")
    func frontDoors() throws {
        for layer in ["Sources/Core", "Sources/Plugins", "Sources/Plugins/Kits"] {
            for module in try Self.folders(in: layer) where module != "Kits" && module != "Codings" {
                let door = try String(
                    contentsOf: Self.root.appending(path: "\(layer)/\(module)/\(module).swift"), encoding: .utf8)
                let folders = try Self.folders(in: "\(layer)/\(module)")
                #expect(folders.isEmpty || door.hasPrefix("// Start here: "), "\(layer)/\(module)")
                for name in folders { #expect(door.contains("\n// \(name)/"), "\(layer)/\(module)/\(name)") }
            }
        }
    }

    @Test("the package index documents each module that is a product")
    func packageIndex() throws {
        let list = try String(contentsOf: Self.root.appending(path: ".spi.yml"), encoding: .utf8)
        let listed = list.split(separator: "\n").compactMap {
            $0.firstMatch(of: /^ +- (Errand\w*)$/).map { String($0.1) }
        }
        let plugins = try Self.folders(in: "Sources/Plugins").filter { $0 != "Kits" }
        let core = [
            "Errand", "ErrandBackoff", "ErrandHTTP", "ErrandHTTPFields", "ErrandJSONSyntax", "ErrandKeys",
            "ErrandMessageSyntax", "ErrandRedaction", "ErrandStates", "ErrandTLS", "ErrandTransfers",
        ]
        #expect(listed == core + plugins.map { "Errand\($0)" }.sorted())
    }

    @Test("the names of header fields that sources read or set come from the table")
    func headerNames() throws {
        let table = try String(
            contentsOf: Self.root.appending(path: "Sources/Core/HTTP/Message/HTTPHeaderName.swift"),
            encoding: .utf8)
        let names = Set(table.matches(of: /HTTPHeaderName \{ "([\w-]+)" \}/).map { String($0.1) })
        let extensions = table.matches(of: /extension HTTPHeaderName \{/).count
        #expect(names.count > 50 && names.count == table.matches(of: /HTTPHeaderName \{/).count - extensions)
        let use = /(?:[\w)?!]\[|name (?:==|!=) |(?:contains|remove|set|add|header|Field)\(|values\(of: )"([\w-]+)"/
        for (path, lines) in try Self.sources(in: "Sources") where !path.contains("+Darwin") {
            for (number, line) in lines.enumerated() where !line.contains("///") {
                let name = line.firstMatch(of: use).map { String($0.1) }
                #expect(name.map { !names.contains($0) } ?? true, "\(path):\(number + 1): \(line)")
            }
        }
    }

    /// The files that may call `URL(string:)` with text that isn't a literal, and why.
    private static let lenientURLs = [
        "HTTPRequest+Errand.swift": "the text is checked first",
        "BaseURL.swift": "only the origin is compared",
        "ClientIdentities.swift": "the text is checked first, or an origin's",
        "URLSyntax.swift": "an origin that the app wrote",
        "URLHost.swift": "Foundation converts the host's name",
        "AddedCredential.swift": "a part of a valid URL",
        "TrafficInspector.swift": "the inspector's own address",
        "ValueFrame.swift": "the same result as JSONDecoder's",
        "WebAuthenticationBrowser+Darwin.swift": "only the scheme is read",
        "OAuthClient+SignIn.swift": "a valid URL and escaped parameters",
        "OAuthServer.swift": "the text is checked first",
        "AWSRequestSigner.swift": "the text is checked first",
    ]

    @Test("URL(string:), which escapes valid escapes again, isn't called with text from outside")
    func urlsFromOutside() throws {
        for folder in ["Sources", "Examples/Integrations"] {
            for (path, lines) in try Self.sources(in: folder)
            where !path.contains("Conformance/") && !path.contains("CacheTesting/") && !path.contains("Tests/") {
                for (number, line) in lines.enumerated()
                where line.contains("URL(string: ") && !line.contains("///") && !line.contains("// ") {
                    let isStrict = line.contains("encodingInvalidCharacters: false")
                    let file = path.split(separator: "/").last.map(String.init) ?? path
                    #expect(isStrict || Self.lenientURLs[file] != nil, "\(path):\(number + 1): use URLReference")
                }
            }
        }
    }
}
