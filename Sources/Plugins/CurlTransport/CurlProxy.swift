import ErrandEssentials
import ErrandMessageSyntax

/// The proxy through which a ``CurlTransport`` connects.
///
/// ```swift
/// configuration.proxy = .url("http://proxy.example.com:3128", except: ["localhost", ".example.com"])
/// ```
public struct CurlProxy: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    enum Choice: Sendable {
        case environment
        case off
        case url(String, [String])
    }

    let choice: Choice

    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as set when the transport sends its first request; in
    /// upper case too, except for `http_proxy`, which a web server would set from a header. A variable without a value
    /// counts as one that is not set.
    public static let environment = CurlProxy(choice: .environment)

    /// No proxy, whatever the environment says.
    public static let off = CurlProxy(choice: .off)

    /// A proxy by its URL: http, https, socks4, socks4a, socks5 or socks5h, with credentials if it needs them. Hosts,
    /// domains and addresses in `except` are connected to directly.
    public static func url(_ url: String, except: [String] = []) -> CurlProxy {
        CurlProxy(choice: .url(url, except))
    }

    /// The kind of proxy, without credentials.
    public var description: String {
        switch choice {
        case .environment: return "environment"
        case .off: return "off"
        case .url(let url, _):
            guard let at = url.lastIndex(of: "@") else { return url }
            let scheme = url.firstRange(of: "://").map { url[..<$0.upperBound] } ?? ""
            return scheme + "•••" + url[at...]
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The proxy for each scheme, as libcurl takes it.
struct ProxyChoice {
    /// Empty for none.
    var http = ""
    var https = ""
    var exceptions = ""

    init(_ proxy: CurlProxy, environment: (String) -> String?) {
        switch proxy.choice {
        case .off: break
        case .url(let url, let except):
            (http, https) = (url, url)
            exceptions = except.joined(separator: ",")
        case .environment:
            // As for curl, a variable without a value is one that is not set.
            func value(_ names: String...) -> String? {
                for name in names { if let value = environment(name), !value.isEmpty { return value } }
                return nil
            }
            let all = value("all_proxy", "ALL_PROXY") ?? ""
            http = value("http_proxy") ?? all
            https = value("https_proxy", "HTTPS_PROXY") ?? all
            exceptions = value("no_proxy", "NO_PROXY") ?? ""
        }
    }

    var isNone: Bool { http.isEmpty && https.isEmpty }

    /// Whether libcurl's text for a connection that could not be made is about a proxy: "Failed to connect to HOST port
    /// PORT" with its address, or, of later versions, with that of the server, "via" or "over" the proxy.
    func isNamed(in detail: String) -> Bool {
        [http, https].contains { proxy in
            guard !proxy.isEmpty,
                let url = try? URLReference(proxy.contains("://") ? proxy : "http://\(proxy)").resolved(),
                let host = url.host(percentEncoded: false)
            else { return false }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            return ["connect to \(name) port \(url.port ?? 1080) ", " via \(name) ", " over proxy \(name) "].contains {
                detail.contains($0)
            }
        }
    }
}
