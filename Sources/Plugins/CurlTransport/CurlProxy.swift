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

    /// Reads the proxies from the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, when
    /// the transport sends its first request.
    ///
    /// Uppercase names work too, except for `HTTP_PROXY`. In a CGI process, a web server would set that variable from a
    /// request header. Empty variables count as unset.
    public static let environment = CurlProxy(choice: .environment)

    /// Connects directly to servers, even if the environment names a proxy.
    public static let off = CurlProxy(choice: .off)

    /// Uses a proxy with an http, https, socks4, socks4a, socks5 or socks5h URL. The URL may contain credentials.
    ///
    /// `except` lists hosts, domains, addresses and address ranges to connect to directly, each with or without a port.
    /// `*` stands for all hosts.
    public static func url(_ url: String, except: [String] = []) -> CurlProxy {
        CurlProxy(choice: .url(url, except))
    }

    /// The kind of proxy, or its URL without credentials.
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

    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

struct ProxyChoice {
    /// The proxy for http, or an empty text for a direct connection.
    var http = ""
    var https = ""
    let exceptions: ProxyExceptions

    init(_ proxy: CurlProxy, environment: (String) -> String?) {
        switch proxy.choice {
        case .off: exceptions = ProxyExceptions("")
        case .url(let url, let except):
            (http, https) = (url, url)
            exceptions = ProxyExceptions(except.joined(separator: ","))
        case .environment:
            func value(_ names: String...) -> String? {
                for name in names { if let value = environment(name), !value.isEmpty { return value } }
                return nil
            }
            let all = value("all_proxy", "ALL_PROXY") ?? ""
            http = value("http_proxy") ?? all
            https = value("https_proxy", "HTTPS_PROXY") ?? all
            exceptions = ProxyExceptions(value("no_proxy", "NO_PROXY") ?? "")
        }
    }

    var hasExceptions: Bool { !isNone && !exceptions.isEmpty }

    func proxy(for url: URL) -> String {
        let isSecure = url.scheme?.lowercased() == "https"
        return exceptions.contain(url, isSecure: isSecure) ? "" : isSecure ? https : http
    }

    /// Masks the proxy's URL in libcurl's text, which contains the URL if libcurl can't use it.
    func masking(_ detail: String) -> String {
        [http, https].reduce(detail) { detail, proxy in
            proxy.utf8.contains(UInt8(ascii: "@"))
                ? detail.replacing(proxy, with: CurlProxy.url(proxy).description) : detail
        }
    }

    var isNone: Bool { http.isEmpty && https.isEmpty }

    /// Whether libcurl's text names this proxy. The text names a failed proxy as the host or, in later versions, after
    /// "via" or "over".
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
