public import Errand
public import ErrandEssentials

/// Opens the sign-in page in the system's browser, and listens on a port of this machine for the redirect (RFC 8252,
/// section 7.3). Use it in desktop apps and terminals.
///
/// ```swift
/// let token = try await client.signIn(scope: "profile", browser: LoopbackBrowser())
/// let browser = LoopbackBrowser { url in print("Open \(url)") }       // in a terminal
/// ```
///
/// Register `http://127.0.0.1/callback` and `http://[::1]/callback` at the server. Don't register a port, because each
/// sign-in uses another port unless you set ``port``. The listener accepts the redirect of this sign-in, shows a short
/// page, and closes. Until then, it refuses every other request, including redirects from another sign-in.
public struct LoopbackBrowser: OAuthBrowser {
    /// An address of this machine that can receive the redirect.
    public enum Address: Sendable, Hashable {
        /// The IPv4 address 127.0.0.1.
        case ipv4
        /// The IPv6 address ::1.
        case ipv6
    }

    /// The path of the redirect URI. Defaults to `/callback`.
    public var path = "/callback"
    /// The addresses to try, in order. The listener uses the first that works. Defaults to IPv4, then IPv6.
    public var addresses: [Address] = [.ipv4, .ipv6]
    /// The port of the redirect URI. Defaults to nil, which means any free port. If the server compares redirect URIs
    /// exactly, set a port and register the URI with that port.
    public var port: UInt16?
    /// Whether the redirect URI contains `localhost` instead of the address. Defaults to false, because the name
    /// `localhost` can also lead to an address on which another program listens (RFC 8252, section 8.3). Set it to true
    /// if the server requires `localhost`.
    public var usesLocalhost = false
    /// How long the user has to sign in. Defaults to five minutes.
    public var timeout: Duration = .seconds(300)
    /// The text that the browser shows after the sign-in. By default, it tells the user to return to the app.
    public var message = "You can close this window and return to the app."
    /// The clock that measures ``timeout``. Defaults to the system's clock.
    public var time: any TimeSource = SystemTimeSource()
    private let open: @Sendable (URL) async throws -> Void

    /// Creates a browser with a closure that opens the page.
    ///
    /// - Parameter open: Opens or prints the page's URL. If the closure throws, the sign-in throws ``OAuthError``.
    public init(open: @escaping @Sendable (URL) async throws -> Void) { self.open = open }

    /// Opens the page and returns the redirect.
    ///
    /// Throws ``OAuthError``: `browserFailed` if the port isn't free or the page can't be opened, `signInTimedOut`
    /// after ``timeout``.
    public func redirect(from page: SignInPage) async throws -> String {
        guard LoopbackRequest.isPath(path) else {
            throw OAuthError(.browserFailed, "the path of the redirect URI has to start with a slash")
        }
        let listener = try LoopbackListener(on: addresses, port: port, isNamed: usesLocalhost)
        let end = time.instant(after: timeout)
        let url = try await page.url(for: "http://\(listener.authority)\(path)")
        // This task isn't awaited, because the program that opens the page may run until the user closes it.
        let opening = Task { [open] in
            do { try await open(url) } catch {
                listener.stop(
                    error as? OAuthError
                        ?? OAuthError(.browserFailed, "the browser couldn't open the page", underlying: error))
            }
        }
        let timer = Task { [time, timeout] in
            await time.wait(until: end)
            if Task.isCancelled { return }
            listener.stop(OAuthError(.signInTimedOut, "the user didn't sign in within \(timeout)"))
        }
        defer { timer.cancel() }
        do {
            return try await listener.redirect(
                to: path, answer: LoopbackPage.text(message), accepting: page.isAnsweredBy)
        } catch {
            opening.cancel()
            throw error
        }
    }
}

#if os(Linux) || os(macOS)
extension LoopbackBrowser {
    /// Creates a browser that opens the page with `xdg-open` or `open`.
    public init() { self.init(open: SystemBrowser.open) }
}
#endif

enum LoopbackPage {
    static func text(_ message: String, status: String = "200 OK") -> String {
        let page =
            "<!doctype html><html><head><meta charset=\"utf-8\"><title>\(status.hasPrefix("200") ? "✓" : "✗")</title></head>"
            + "<body><p>\(escaped(String(message.prefix(2000))))</p></body></html>"
        let fields = [
            "HTTP/1.1 \(status)", "Content-Type: text/html; charset=utf-8", "Content-Length: \(page.utf8.count)",
            "Cache-Control: no-store", "Content-Security-Policy: default-src 'none'", "Referrer-Policy: no-referrer",
            "X-Content-Type-Options: nosniff", "Connection: close",
        ]
        return fields.joined(separator: "\r\n") + "\r\n\r\n" + page
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
