public import ErrandEssentials

/// Shows a server's sign-in page, and receives the redirect at its end. ``LoopbackBrowser`` is for desktops and
/// terminals; on Apple's platforms, `WebAuthenticationBrowser` shows the system's sheet.
///
/// For an app that receives the redirect by itself, conform to it:
///
/// ```swift
/// struct AppBrowser: OAuthBrowser {
///     func redirect(from page: @Sendable (String) async throws -> URL) async throws -> String {
///         let url = try await page("com.example.app:/signed-in")
///         return try await app.open(url).absoluteString       // the URL with which the app was opened
///     }
/// }
/// ```
public protocol OAuthBrowser: Sendable {
    /// Shows the page and returns the URL to which the server redirects, as received. The client checks it.
    ///
    /// Stop when the task is cancelled. Throw ``OAuthError`` with `signInCancelled` if the user closes the page.
    ///
    /// - Parameter page: Returns the page's URL for a redirect URI that's registered at the server. Call it once.
    func redirect(from page: @Sendable (_ redirectURI: String) async throws -> URL) async throws -> String
}
