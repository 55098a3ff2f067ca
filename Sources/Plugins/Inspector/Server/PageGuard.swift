import ErrandEssentials
import ErrandSupport

/// The secrets of a started inspector: the token in the address, and the cookie that replaces it.
struct PageSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    let token = Self.random()
    let cookie = Self.random()
    /// A random text by which a page recognizes whether its rows are from this start of the inspector. Not a secret.
    let start = Self.random()

    var description: String { "PageSecrets" }
    var customMirror: Mirror { Mirror(self, children: []) }

    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Returns whether a text equals a secret. Takes a time that depends only on the secret's length.
    static func matches(_ given: String, _ secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        var difference = given.count ^ secret.count
        for index in secret.indices { difference |= Int(secret[index] ^ (index < given.count ? given[index] : 0)) }
        return difference == 0
    }
}

/// Accepts requests from the page and from the person who opens it. Refuses other programs' pages, an attacker's DNS
/// name for this device, and requests without the token.
struct PageGuard: Sendable {
    enum Verdict: Equatable {
        case refused(status: Int)
        /// The first visit, with the token.
        case opening
        /// A request of the page, with the cookie.
        case known
    }

    let port: UInt16
    let secrets: PageSecrets

    /// The cookie's name. Contains the port, because all ports of a host share cookies.
    var cookieName: String { "errand-inspector-\(port)" }

    func judge(_ request: PageRequest) -> Verdict {
        // Accepts only the names of this machine, to prevent DNS rebinding.
        let host = request.host.lowercased()
        guard ["127.0.0.1:\(port)", "[::1]:\(port)", "localhost:\(port)"].contains(host) else {
            return .refused(status: 421)
        }
        // Refuses pages of other origins, including other ports of this host.
        if request.contains("origin"), request.field("origin")?.lowercased() != "http://\(host)" {
            return .refused(status: 403)
        }
        if request.method == "POST" {
            // Requires both fields: browsers send `Origin` with every POST, and ask before they send JSON to another
            // origin.
            guard request.contains("origin"), request.field("content-type") == "application/json" else {
                return .refused(status: 403)
            }
        }
        if request.method == "GET", request.path == "/", let token = request.item("token") {
            return PageSecrets.matches(token, secrets.token) ? .opening : .refused(status: 403)
        }
        // Refuses requests that another site caused, such as for a subresource or by a link.
        if request.contains("sec-fetch-site"), !["same-origin", "none"].contains(request.field("sec-fetch-site")) {
            return .refused(status: 403)
        }
        return hasCookie(request) ? .known : .refused(status: 403)
    }

    private func hasCookie(_ request: PageRequest) -> Bool {
        let prefix = "\(cookieName)="
        let values = (request.field("cookie") ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        return values.contains { pair in
            pair.hasPrefix(prefix) && PageSecrets.matches(String(pair.dropFirst(prefix.utf8.count)), secrets.cookie)
        }
    }
}
