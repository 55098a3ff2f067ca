import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

package enum SystemInfo {
    package static var program: String {
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? "Swift"
        return String(decoding: name.utf8.map { ASCII.isToken($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }

    package static var system: String {
        #if os(Linux)
        "Linux"
        #elseif os(Android)
        "Android"
        #elseif os(macOS)
        "macOS"
        #elseif os(iOS)
        "iOS"
        #else
        "Swift"
        #endif
    }

    package static var languages: [String] {
        #if canImport(Darwin)
        Locale.preferredLanguages
        #else
        languages(from: ProcessInfo.processInfo.environment)
        #endif
    }

    package static func languages(from environment: [String: String]) -> [String] {
        let lists = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }
        let list = lists.first { !$0.isEmpty } ?? ""
        return list.split(separator: ":").map { locale in
            String(locale.prefix { $0 != "." && $0 != "@" }).replacing("_", with: "-")
        }.filter { tag in
            let isTag = tag.utf8.count <= 35 && tag.utf8.allSatisfy { ASCII.isToken($0) && $0 != UInt8(ascii: "*") }
            return isTag && !tag.isEmpty && tag != "C" && tag != "POSIX"
        }
    }

    /// Returns the value of `Accept-Language` for a user's languages (RFC 9110, section 12.5.4).
    package static func acceptLanguage(_ languages: [String]) -> String {
        languages.prefix(5).enumerated().map { index, language in
            index == 0 ? language : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }
}
