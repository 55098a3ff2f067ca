import Errand
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import Testing

/// 9 September 2001, 01:46:40 UTC.
let epoch = Date(timeIntervalSince1970: 1_000_000_000)

func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

extension CookieJar {
    func field(for text: String, at date: Date = epoch) -> String {
        cookies(for: url(text), at: date).map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
            .joined(separator: "; ")
    }

    /// Stores a server's `Set-Cookie`, and returns why it was rejected.
    @discardableResult
    func set(_ text: String, from page: String, at date: Date = epoch) -> CookieRejection? {
        do { try store(text, from: url(page), at: date) } catch { return error }
        return nil
    }
}

/// A server's `Set-Cookie` fields and the `Cookie` field of a later request, with the section of RFC 6265bis.
struct Rule: Sendable, CustomTestStringConvertible {
    let section: String
    let set: [String]
    let from: String
    let to: String
    let after: Double
    let sent: String

    init(
        _ section: String, _ set: String..., from: String = "https://www.example.com/a/b", to: String? = nil,
        after: Double = 0, sent: String
    ) {
        (self.section, self.set, self.from, self.to) = (section, set, from, to ?? from)
        (self.after, self.sent) = (after, sent)
    }

    var testDescription: String { "\(section) \(set.map { String($0.prefix(60)) }) \(to)" }
}
