import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// The user of a request, as a ``UserPin`` compares it.
struct PinnedIdentity {
    let origin: String
    /// The user's marks, except the marks of cookies and marks that a session vouches for.
    let marks: Set<UserMark>
    let vouched: Set<UserMark>
    /// The cookies by name. Empty if a session or the request's owners identify the user.
    var cookies: [String: String] = [:]

    init(_ exchange: Exchange) {
        origin = URLSyntax.origin(of: exchange.http.url)
        let vouchers = exchange.tags[Vouchers.self]
        var implied = UserMarks.implied(by: exchange.http.headers, besides: exchange.users)
        let cookie = implied.first { $0.source == CookiePairs.source }
        if let cookie { implied.remove(cookie) }
        let all = implied.union(exchange.userMarks.subtracting(cookie.map { [$0] } ?? []))
        let isOwned = (exchange.request as? any OwnedRequest)?.owners.isEmpty == false
        (marks, vouched) = (all.subtracting(vouchers), all.intersection(vouchers))
        if let cookie, vouchers.isEmpty, !isOwned { cookies = CookiePairs.read(cookie.identity) }
    }

    var all: Set<UserMark> {
        marks.union(vouched).union(cookies.map { UserMark($0.value, source: "\(CookiePairs.source) \($0.key)") })
    }

    /// Returns the source of a mark that only one request has, or nil for the same user.
    func difference(from new: PinnedIdentity) -> String? {
        if let mark = marks.symmetricDifference(new.marks).first { return mark.source }
        if cookies.isEmpty { return nil }
        var isWithout = true
        for (name, value) in new.cookies {
            guard let old = cookies[name] else { continue }
            if !old.hasSameBytes(as: value) { return CookiePairs.source }
            isWithout = false
        }
        return isWithout ? CookiePairs.source : nil
    }
}

/// Parses the pairs of a `Cookie` field (RFC 6265, section 4.2.1).
enum CookiePairs {
    static let source = "cookie"

    static func read(_ field: String) -> [String: String] {
        var pairs: [String: String] = [:]
        for pair in field.split(separator: ";") {
            let text = ASCII.trimmed(pair)
            let end = text.firstIndex(of: "=") ?? text.endIndex
            pairs[String(text[..<end])] = String(text[end...])
        }
        return pairs
    }

    static func name(of setCookie: String) -> String {
        String(ASCII.trimmed(setCookie.prefix { $0 != ";" && $0 != "=" }))
    }
}

/// See ``Exchange/vouch(for:carriedBy:)``.
enum Vouchers: TagKey {
    static var defaultValue: Set<UserMark> { [] }
}
