#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The headers that an agent adds by default: who asks, and in which languages the answer may be.
public enum DefaultHeaders {
    public static let standard: HTTPHeaders = {
        var headers: HTTPHeaders = [.userAgent: userAgent]
        let languages = acceptLanguage(preferredLanguages)
        if !languages.isEmpty { headers[.acceptLanguage] = languages }
        return headers
    }()

    /// "program (Linux) Errand/0.1.0", in ASCII.
    static var userAgent: String {
        let path = CommandLine.arguments.first ?? "Errand"
        let name = path.split(separator: "/").last.map(String.init) ?? "Errand"
        let token = String(decoding: name.utf8.map { ASCII.isToken($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        return "\(token) (\(system)) Errand/\(ErrandInfo.version)"
    }

    private static var system: String {
        #if os(Linux)
        "Linux"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #else
        "Swift"
        #endif
    }

    /// "de-AT, de;q=0.9, en;q=0.8": each language 0.1 less than the one before, those above 0.5 only (RFC 9110, 12.5.4).
    static func acceptLanguage(_ languages: [String]) -> String {
        languages.prefix(5).enumerated().map { index, language in
            index == 0 ? language : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    private static var preferredLanguages: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        languages(from: ProcessInfo.processInfo.environment)
        #endif
    }

    /// What the environment of a POSIX system says: `LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`.
    static func languages(from environment: [String: String]) -> [String] {
        let lists = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        guard let list = lists.first else { return [] }
        return list.split(separator: ":").compactMap { locale in
            let name = locale.prefix { $0 != "." && $0 != "@" }.replacing("_", with: "-")
            let isTag = name.utf8.allSatisfy { ASCII.isToken($0) && $0 != UInt8(ascii: "*") }
            return name == "C" || name == "POSIX" || name.isEmpty || name.utf8.count > 35 || !isTag ? nil : String(name)
        }
    }
}
