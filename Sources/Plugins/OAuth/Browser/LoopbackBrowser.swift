public import Errand
public import ErrandEssentials

/// Opens the sign-in page in the system's browser, and receives the redirect on a port of this machine (RFC 8252,
/// section 7.3). For desktops and terminals.
///
/// ```swift
/// let token = try await client.signIn(scope: "profile", browser: LoopbackBrowser())
/// let browser = LoopbackBrowser { url in print("Open \(url)") }       // in a terminal
/// ```
///
/// Register `http://127.0.0.1/callback` and `http://[::1]/callback` at the server, without a port: each sign-in has
/// another port. The listener accepts one redirect, answers it with a short page, and closes. Requests to another path,
/// with another method or with another `Host`, and redirects of another sign-in, are refused and don't end the sign-in.
public struct LoopbackBrowser: OAuthBrowser {
    /// An IP address of this machine, on which the redirect is received.
    public enum Address: Sendable, Hashable {
        /// The IPv4 address 127.0.0.1.
        case ipv4
        /// The IPv6 address ::1.
        case ipv6
    }

    /// The path of the redirect URI. Defaults to `/callback`.
    public var path = "/callback"
    /// The addresses to listen on; the first that the system has is used. Defaults to IPv4, then IPv6.
    public var addresses: [Address] = [.ipv4, .ipv6]
    /// The longest time for signing in. Defaults to five minutes.
    public var timeout: Duration = .seconds(300)
    /// The text that the user sees in the browser after signing in. Defaults to a sentence that leads back to the app.
    public var message = "You can close this window and return to the app."
    /// The clock that measures the time limit. Defaults to the system's.
    public var time: any TimeSource = SystemTimeSource()
    private let open: @Sendable (URL) async throws -> Void

    /// Creates a browser that opens the page with a closure.
    ///
    /// - Parameter open: Opens or prints the page's URL. If it throws, the sign-in ends.
    public init(open: @escaping @Sendable (URL) async throws -> Void) { self.open = open }

    /// Returns the redirect. Throws ``OAuthError``: `browserFailed` if there's no free port or the page couldn't be
    /// opened, `signInTimedOut` after the time limit.
    public func redirect(from page: SignInPage) async throws -> String {
        guard LoopbackRequest.isPath(path) else {
            throw OAuthError(.browserFailed, "the path of the redirect URI has to start with a slash")
        }
        let listener = try LoopbackListener(on: addresses)
        let end = time.instant(after: timeout)
        let url = try await page.url(for: "http://\(listener.authority)\(path)")
        // Not awaited: a program that opens a page can run as long as the page.
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
            listener.stop(OAuthError(.signInTimedOut, "nobody signed in within \(timeout)"))
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
    /// Creates a browser that opens the page in the system's browser, with `xdg-open` or `open`.
    public init() { self.init(open: SystemBrowser.open) }
}
#endif

/// The page at the end of a sign-in.
enum LoopbackPage {
    /// Returns a complete response. The page loads nothing, and the browser doesn't keep it.
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
