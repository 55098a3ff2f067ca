import ErrandEssentials
import ErrandSupport

/// The token in the page's address, and the cookie that replaces the token.
struct PageSecrets: Sendable, CustomStringConvertible, CustomReflectable {
    let token = Self.random()
    let cookie = Self.random()
    /// A random text with which the page recognizes whether its rows are from this start of the inspector. It isn't a
    /// secret.
    let start = Self.random()

    var description: String { "PageSecrets" }
    var customMirror: Mirror { Mirror(self, children: []) }

    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Compares a text with a secret. The time depends only on the length of the secret, so it doesn't help to guess
    /// the secret.
    static func matches(_ given: String, _ secret: String) -> Bool {
        let (given, secret) = (Array(given.utf8), Array(secret.utf8))
        var difference = given.count ^ secret.count
        for index in secret.indices { difference |= Int(secret[index] ^ (index < given.count ? given[index] : 0)) }
        return difference == 0
    }
}

/// Decides whether to answer a request. It refuses requests from other programs' pages, requests to a DNS name that an
/// attacker points at this device, and requests without the token.
struct PageGuard: Sendable {
    enum Verdict: Equatable {
        case refused(status: Int)
        case opening
        case known
    }

    let port: UInt16
    let secrets: PageSecrets

    /// The name of the cookie. It contains the port, because all ports of a host share their cookies.
    var cookieName: String { "errand-inspector-\(port)" }

    func judge(_ request: PageRequest) -> Verdict {
        // Checks the host, to prevent DNS rebinding.
        let host = request.host.lowercased()
        guard ["127.0.0.1:\(port)", "[::1]:\(port)", "localhost:\(port)"].contains(host) else {
            return .refused(status: 421)
        }
        if request.contains("origin"), request.field("origin")?.lowercased() != "http://\(host)" {
            return .refused(status: 403)
        }
        if request.method == "POST" {
            // Browsers send `Origin` with every POST, and they ask for permission before they send JSON to another
            // origin.
            guard request.contains("origin"), request.field("content-type") == "application/json" else {
                return .refused(status: 403)
            }
        }
        if request.method == "GET", request.path == "/", let token = request.item("token") {
            return PageSecrets.matches(token, secrets.token) ? .opening : .refused(status: 403)
        }
        // Another site has caused the request, for example with a link or an image.
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
