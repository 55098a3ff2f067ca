/// A plugin's name, in each form that the package needs.
struct PluginName {
    /// The type: RateLimit.
    let type: String
    /// Package and module: ErrandRateLimit.
    let module: String

    /// Throws if the name isn't usable, with the reason.
    init(_ name: String, prefix: String) throws {
        for text in [name, prefix] {
            guard let first = text.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first),
                text.utf8.allSatisfy(Self.isLetterOrDigit), text.utf8.count <= 60
            else {
                throw NewPluginCommand.Problem(
                    "\(text) is not a type name: use ASCII letters and digits, starting with a capital")
            }
        }
        if Self.taken.contains(name) {
            throw NewPluginCommand.Problem("\(name) is a type that the plugin uses; choose another name")
        }
        type = name
        module = name.hasPrefix(prefix) && name != prefix ? name + "Plugin" : prefix + name
        if Self.modules.contains(module) || ErrandSource.hasModule(module) {
            throw NewPluginCommand.Problem("\(module) is one of Errand's own modules; choose another name or prefix")
        }
    }

    /// The words of the name: Rate, Limit; URL, Signer.
    var words: [String] {
        let characters = Array(type)
        var words: [String] = []
        for (index, character) in characters.enumerated() {
            let startsWord =
                character.isUppercase
                && (index == 0 || !characters[index - 1].isUppercase
                    || (index + 1 < characters.count && characters[index + 1].isLowercase))
            if startsWord || words.isEmpty { words.append("") }
            words[words.count - 1].append(character)
        }
        return words
    }

    /// The member: rateLimit.
    var member: String {
        guard let first = words.first else { return type }
        return first.lowercased() + words.dropFirst().joined()
    }

    /// The member's declared name. Keywords get backticks.
    var declaredMember: String { Self.keywords.contains(member) ? "`\(member)`" : member }

    /// The header field: Rate-Limit.
    var field: String { words.joined(separator: "-") }

    /// The name in a sentence: rate limit.
    var phrase: String {
        words.map { $0.allSatisfy(\.isUppercase) && $0.count > 1 ? $0 : $0.lowercased() }.joined(separator: " ")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// Names that the templates use from the standard library, Errand and the test library.
    private static let taken: Set<String> = [
        "Accessory", "AccessoryConformance", "Activity", "ActivityEvent", "Agent", "Any", "Bool", "CacheEntry",
        "CacheEntryHead", "CacheKey", "CachePolicy", "CacheStore", "CacheStoreSuite", "CacheableRequest", "Call",
        "CallOptions", "ConformanceCase", "KnownLimitation", "Data", "Decodable", "DescribedError", "Double",
        "Errand",
        "ErrandError", "Error", "Exchange", "Filter", "FilterConformance", "FilterStages", "FilterTraits", "HTTPBody",
        "HTTPRequest", "HTTPResponse", "Hashable", "Int", "Int64", "LogRecord", "LogSink", "Mutex", "NetworkAgent",
        "Never",
        "Next", "Optional", "PluginConformanceCase", "Protocol", "Request", "RequestLog", "Response", "ResponseCheck",
        "ResponseCache", "Self", "Sendable", "Set", "String", "StubResponse", "StubTransport", "Suite",
        "SystemTransport",
        "Task", "Test", "TestServer", "Transport", "TransportConformance", "TransportOptions", "Type", "UInt8", "Void",
    ]

    /// The package's modules.
    private static let modules: Set<String> = Set(
        [
            "Authentication", "Batch", "Cache", "CacheTesting", "Chain", "Coalescing", "Compression", "Conformance",
            "Cookies",
            "CurlTransport",
            "Essentials",
            "HTTP",
            "Backoff", "Codings", "Collections", "ContentCodings", "Digests", "HTTPFields", "JSONSyntax", "Keys",
            "MessageSyntax",
            "Platform", "Punycode", "Redaction", "States", "TLS", "Transfers",
            "HTTPSyntax", "Inspector", "JSONDecoding", "JSONSchema", "JSONValidation", "LoadingIndicatorLog", "OAuth",
            "OAuthTesting", "Outbox", "Paging",
            "Recording",
            "Replay",
            "ResumableDownload",
            "Retry",
            "Signing", "Streaming", "Support", "SystemTransport", "Testing", "URLFilters", "URLSessionTransport", "XML",
            "Multipart", "TestSupport",
        ].map { "Errand\($0)" })

    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "init",
        "inout", "internal", "is", "let", "nil", "operator", "private", "precedencegroup", "protocol", "public",
        "repeat",
        "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try",
        "typealias", "var", "where", "while",
    ]
}
