package import ErrandEssentials
import ErrandHTTPSyntax
import Synchronization

/// An absolute http or https URL of checked text, parsed on first use: most requests need the text alone.
package final class CheckedURL: Sendable {
    package let text: String
    /// Whether it is known to have the origin of the base URL to which its path was joined.
    package let isOfBase: Bool
    private let base: URL
    private let parsed: Mutex<URL?>

    /// - Parameters:
    ///   - text: the base with a plain path and an encoded query, which no parser can reject.
    ///   - base: the beginning of the text, parsed.
    init(_ text: String, base: URL) {
        (self.text, self.base, isOfBase) = (text, base, true)
        parsed = Mutex(nil)
    }

    /// A URL that was parsed from checked text.
    init(_ url: URL) {
        (text, base, isOfBase) = (url.absoluteString, url, false)
        parsed = Mutex(url)
    }

    package var url: URL {
        parsed.withLock { parsed in
            let url = parsed ?? URL(string: text, encodingInvalidCharacters: false) ?? base
            parsed = url
            return url
        }
    }
}

/// The URL of a message: one that was given, or one of checked text.
enum MessageURL {
    case given(URL)
    case checked(CheckedURL)

    var url: URL {
        switch self {
        case .given(let url): url
        case .checked(let checked): checked.url
        }
    }

    var text: String {
        switch self {
        case .given(let url): url.absoluteString
        case .checked(let checked): checked.text
        }
    }
}
