package import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// An absolute http or https URL whose text was checked. Parsed on first use, because most requests need only the text.
package final class CheckedURL: Sendable {
    private enum Origin {
        case base(BaseURL)
        case parsed(URL)
    }

    package let text: String
    private let origin: Origin
    private let parsed = Mutex<URL?>(nil)

    /// - Parameters:
    ///   - text: The base with a plain path and an encoded query, which every parser accepts.
    ///   - base: The beginning of the text.
    init(_ text: String, base: BaseURL) { (self.text, origin) = (text, .base(base)) }

    init(_ url: URL) { (text, origin) = (url.absoluteString, .parsed(url)) }

    package var isOfBase: Bool {
        if case .base = origin { true } else { false }
    }

    /// The lowercase host, without the brackets of an IPv6 address.
    var host: String {
        switch origin {
        case .base(let base): base.host
        case .parsed: URLSyntax.host(ofChecked: text)
        }
    }

    package var url: URL {
        switch origin {
        case .parsed(let url): url
        case .base(let base):
            parsed.withLock { parsed in
                let url = parsed ?? URL(string: text, encodingInvalidCharacters: false) ?? base.url
                parsed = url
                return url
            }
        }
    }
}

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
